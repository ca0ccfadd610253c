//! The tools of MCP. They share what they draw with the operations of REST.

use serde_json::{Value, json};

use super::{Draw, Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;

pub(crate) fn operations() -> Vec<Operation> {
    let mut operations = messaging();
    operations.extend(channels());
    operations.extend(workflow());
    operations.extend(files());
    operations
}

fn messaging() -> Vec<Operation> {
    vec![
        operation("tool my_status", 6, |draw| draw.tool("my_status", &json!({}))),
        operation("tool send_message", 25, |draw| {
            let mut arguments = json!({"to": draw.name(), "body": draw.text()});
            draw.add_options(&mut arguments);
            draw.tool("send_message", &arguments)
        }),
        operation("tool send_channel_message", 30, |draw| {
            let mut arguments = json!({"channel": draw.channel(), "body": draw.text()});
            draw.add_options(&mut arguments);
            draw.tool("send_channel_message", &arguments)
        }),
        operation("tool read_inbox", 15, |draw| {
            let status = draw.dice.pick(&["pending", "processing", "done", "failed", "all"]);
            let arguments = json!({"status": status, "limit": 1 + draw.dice.below(5), "full": draw.dice.chance(30)});
            draw.tool("read_inbox", &arguments)
        }),
        operation("tool wait_for_messages", 10, |draw| draw.tool("wait_for_messages", &json!({"timeout_seconds": 0}))),
        operation("tool claim_messages", 20, |draw| {
            let arguments = draw.claim();
            draw.tool("claim_messages", &arguments)
        }),
        operation("tool mark_done", 20, |draw| {
            let message = draw.message()?;
            let status = draw.dice.pick(&["done", "failed", "released", "odd"]);
            let mut arguments = json!({"message_id": reference(&message.reference), "status": status});
            if draw.dice.chance(70) {
                arguments["result"] = json!(draw.text());
            }
            let actor = message.to.filter(|to| draw.world.owner_of(to) != to).unwrap_or_else(|| draw.agent());
            Some(Draft::tool(&actor, "mark_done", &arguments))
        }),
        operation("tool get_replies", 8, |draw| {
            let message = draw.message()?;
            let arguments = json!({"message_id": reference(&message.reference), "full": draw.dice.chance(50)});
            draw.tool("get_replies", &arguments)
        }),
        operation("tool search_messages", 10, |draw| {
            let words = text::query(draw.dice).replace(text::LONE_SURROGATE, "%");
            let arguments = json!({"q": words, "limit": 1 + draw.dice.below(8)});
            draw.tool("search_messages", &arguments)
        }),
        operation("tool mark_read", 12, |draw| {
            let (arguments, _) = draw.mark_read()?;
            draw.tool("mark_read", &arguments)
        }),
    ]
}

fn channels() -> Vec<Operation> {
    vec![
        operation("tool read_channel", 15, |draw| {
            let mut arguments = json!({"channel": draw.channel(), "limit": 1 + draw.dice.below(6)});
            if draw.dice.chance(40) {
                let side = draw.dice.pick(&["before", "after"]);
                arguments[side] = json!(draw.message_reference());
            }
            draw.tool("read_channel", &arguments)
        }),
        operation("tool list_channels", 5, |draw| draw.tool("list_channels", &json!({}))),
        operation("tool list_agents", 5, |draw| {
            let query: String = draw.name().chars().take(2).collect();
            draw.tool("list_agents", &json!({"query": query}))
        }),
        operation("tool create_channel", 4, |draw| {
            let arguments = draw.new_channel();
            draw.tool("create_channel", &arguments)
        }),
        operation("tool join_channel", 8, |draw| {
            let arguments = json!({"channel": draw.channel()});
            draw.tool("join_channel", &arguments)
        }),
        operation("tool leave_channel", 4, |draw| {
            let arguments = json!({"channel": draw.channel()});
            draw.tool("leave_channel", &arguments)
        }),
        operation("tool update_channel_settings", 4, |draw| {
            let mut arguments = draw.settings();
            arguments["channel"] = json!(draw.channel());
            draw.tool("update_channel_settings", &arguments)
        }),
    ]
}

fn workflow() -> Vec<Operation> {
    vec![
        operation("tool react", 30, |draw| {
            let mut arguments = draw.reaction();
            arguments["message_id"] = json!(draw.message_reference()?);
            draw.tool("react", &arguments)
        }),
        operation("tool unreact", 8, |draw| {
            let reaction = draw.reaction()["reaction"].clone();
            draw.message().and_then(|message| {
                draw.tool("unreact", &json!({"message_id": reference(&message.reference), "reaction": reaction}))
            })
        }),
        operation("tool get_reactions", 6, |draw| {
            let message = draw.message_reference()?;
            draw.tool("get_reactions", &json!({"message_id": message}))
        }),
        operation("tool list_by_state", 6, |draw| {
            let state = draw.dice.pick(&["proposed", "approved", "in_progress", "rejected", "done", "published"]);
            let arguments = json!({"channel": draw.channel(), "state": state});
            draw.tool("list_by_state", &arguments)
        }),
        operation("tool get_trust", 6, |draw| {
            let arguments = if draw.dice.chance(50) { json!({}) } else { json!({"agent": draw.name()}) };
            draw.tool("get_trust", &arguments)
        }),
    ]
}

fn files() -> Vec<Operation> {
    vec![
        operation("tool upload_attachment", 6, |draw| {
            let content = draw.dice.pick(&["ZmlsZSAx", "ZmlsZSAy", "", "!!", "JVBERi0xLjc="]);
            let filename = draw.dice.pick(&["a.txt", "", "b\u{e9}.pdf"]);
            draw.tool("upload_attachment", &json!({"filename": filename, "content_base64": content}))
        }),
        operation("tool download_attachment", 6, |draw| {
            let file = draw.dice.recent(&draw.world.files).cloned()?;
            draw.tool("download_attachment", &json!({"sha256": file}))
        }),
    ]
}

impl Draw<'_> {
    /// Tools are called by agents, with their own or a managed key.
    fn tool(&mut self, name: &str, arguments: &Value) -> Option<Draft> {
        let key = self.dice.recent(&self.world.keys).cloned().filter(|_| self.dice.chance(10));
        let actor = key.unwrap_or_else(|| self.agent());
        Some(Draft::tool(&actor, name, arguments))
    }
}
