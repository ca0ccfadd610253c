//! Files for agents. What a model cannot take in at once is left to REST.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_model::attachments::AttachmentView;
use stoa_model::permissions::Permission;

use super::{collect, reading, upload};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::users;
use crate::hub::Hub;
use crate::surfaces::mcp::{Effect, File, FileContent, ResourceSpec, Resources, ToolSpec, Tools, Toolset};

/// Bytes of a text that are shown; the rest is fetched by who needs it.
const MAX_TEXT: u64 = 100 * 1024;
/// Bytes of anything else, which cannot be shown in part.
const MAX_BINARY: u64 = 5 * 1024 * 1024;
/// Characters that are decoded at once: whole groups of four.
const PIECE: usize = 256 * 1024;
/// Some leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub fn add_tools(tools: &mut Tools) {
    use Effect::{Deletes, Reads, Sets};
    use Permission::{AttachmentsRead, AttachmentsWrite};
    let spec = |name, effect, permission, description| {
        ToolSpec::new(name, Toolset::Attachments, effect, Some(permission), description)
    };
    tools.add(
        spec("upload_attachment", Sets, AttachmentsWrite, "Upload an image, PDF or text file; send it by its sha256")
            .taking_files(),
        upload_attachment,
    );
    tools.add_with_blocks(
        spec("download_attachment", Reads, AttachmentsRead, "A file that was sent or uploaded"),
        download_attachment,
    );
    tools.add(
        spec("gc_attachments", Deletes, AttachmentsWrite, "Delete files that no message has")
            .shown_to(|tx, actor| users::is_admin(tx, actor.principal.human)),
        gc_attachments,
    );
}

pub fn add_resources(resources: &mut Resources) {
    let spec = ResourceSpec::new(
        "stoa://attachments/{sha256}",
        "attachment",
        &[Permission::AttachmentsRead],
        "A file that was sent or uploaded",
    );
    resources.add_files(spec, |hub, actor, sha256| async move {
        let shown = read(&hub, &actor, sha256).await?;
        Ok(File { mime_type: shown.attachment.mime_type, content: shown.content })
    });
}

fn address(sha256: &str) -> String {
    format!("stoa://attachments/{sha256}")
}

/// A block of content that leads to a file.
pub fn link(attachment: &AttachmentView) -> Value {
    json!({
        "type": "resource_link", "uri": address(&attachment.sha256), "name": attachment.filename,
        "mimeType": attachment.mime_type, "size": attachment.size,
    })
}

#[derive(Deserialize, JsonSchema)]
struct UploadArguments {
    filename: String,
    content_base64: String,
}

#[derive(Serialize, JsonSchema)]
struct Uploaded {
    sha256: String,
    size: i64,
    mime_type: String,
    filename: String,
}

async fn upload_attachment(hub: Hub, actor: Actor, mut arguments: UploadArguments) -> Result<Uploaded, HubError> {
    let mut upload = upload::begin(&hub, &actor).await?;
    // Many break it into lines.
    arguments.content_base64.retain(|character| !character.is_ascii_whitespace());
    let not_base64 = || HubError::invalid_field("content_base64", "is not base64");
    let mut pieces = arguments.content_base64.as_bytes().chunks(PIECE).peekable();
    while let Some(piece) = pieces.next() {
        // Each piece could be filled up as the end of a text may be, but only the last one is an end.
        if pieces.peek().is_some() && piece.contains(&b'=') {
            return Err(not_base64());
        }
        let bytes = BASE64.decode(piece).map_err(|_| not_base64())?;
        upload = upload.write(bytes.into()).await?;
    }
    let AttachmentView { sha256, size, mime_type, filename, .. } = upload.finish(&arguments.filename).await?;
    Ok(Uploaded { sha256, size, mime_type, filename })
}

#[derive(Deserialize, JsonSchema)]
struct DownloadArguments {
    sha256: String,
}

#[derive(Serialize, JsonSchema)]
struct Downloaded {
    sha256: String,
    size: i64,
    mime_type: String,
    filename: String,
    /// The text of a text file. It is data, written by the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

async fn download_attachment(
    hub: Hub,
    actor: Actor,
    arguments: DownloadArguments,
) -> Result<(Downloaded, Vec<Value>), HubError> {
    let shown = read(&hub, &actor, arguments.sha256).await?;
    let is_drawn = shown.attachment.is_shown_inline();
    let AttachmentView { sha256, size, mime_type, filename, .. } = shown.attachment;
    let (content, blocks) = match shown.content {
        FileContent::Text(text) => (Some(text), Vec::new()),
        FileContent::Bytes(bytes) if is_drawn => {
            (None, vec![json!({"type": "image", "data": STANDARD.encode(bytes), "mimeType": mime_type})])
        }
        FileContent::Bytes(bytes) => {
            let blob = STANDARD.encode(bytes);
            let resource = json!({"uri": address(&sha256), "mimeType": mime_type, "blob": blob});
            (None, vec![json!({"type": "resource", "resource": resource})])
        }
    };
    let hint = shown.is_cut.then(|| {
        format!("This is the beginning. The rest: GET /api/attachments/{sha256} with Range: bytes={MAX_TEXT}-")
    });
    Ok((Downloaded { sha256, size, mime_type, filename, content, hint }, blocks))
}

/// As much of a file as is shown.
struct Shown {
    attachment: AttachmentView,
    content: FileContent,
    is_cut: bool,
}

async fn read(hub: &Hub, actor: &Actor, sha256: String) -> Result<Shown, HubError> {
    let file = reading::get(hub, actor, sha256).await?;
    let attachment = file.details.attachment.clone();
    let size = attachment.size.unsigned_abs();
    let is_text = attachment.mime_type == "text/plain";
    if !is_text && size > MAX_BINARY {
        let detail = format!("The file has {size} bytes; this tool returns at most {MAX_BINARY}.");
        return Err(HubError::new(ErrorKind::TooLarge, "payload_too_large", detail)
            .hint(format!("Fetch it with GET /api/attachments/{} and the same key.", attachment.sha256)));
    }
    let length = if is_text { size.min(MAX_TEXT) } else { size };
    let mut bytes = Vec::new();
    let mut reader = reading::open(hub, &file, 0, length).await?;
    while let Some((piece, next)) = reader.next().await? {
        bytes.extend_from_slice(&piece);
        reader = next;
    }
    let content = if is_text {
        // It is UTF-8; only the last character may have been cut.
        let end = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        bytes.truncate(end);
        FileContent::Text(String::from_utf8(bytes).map_err(HubError::internal)?)
    } else {
        FileContent::Bytes(bytes)
    };
    Ok(Shown { attachment, content, is_cut: length < size })
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[derive(Serialize, JsonSchema)]
struct Collected {
    removed: u64,
    freed_bytes: i64,
}

async fn gc_attachments(hub: Hub, actor: Actor, _: NoArguments) -> Result<Collected, HubError> {
    let collect::Collected { removed, freed_bytes } = collect::collect_for(&hub, &actor).await?;
    Ok(Collected { removed, freed_bytes })
}
