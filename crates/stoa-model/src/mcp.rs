//! What MCP clients can ask for.

use crate::named::named_enum;

named_enum! {
    /// Which part of the hub a tool belongs to. Clients can ask for some of them only.
    pub enum Toolset {
        Core = "core",
        Channels = "channels",
        Workflow = "workflow",
        Attachments = "attachments",
        Automation = "automation",
        Goals = "goals",
        Wiki = "wiki",
    }
}
