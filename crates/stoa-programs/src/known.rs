//! What people are shown of the programs before they choose one.

use stoa_model::agents::HarnessAdapter;

/// A program that the hub knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProgram {
    pub adapter: HarnessAdapter,
    pub name: &'static str,
    /// Where the owner names no other.
    pub command: &'static str,
    /// Variables with a key of its model. One of them is enough; the first is the usual one.
    pub key_names: &'static [&'static str],
    /// Some that it can use. Others work as well.
    pub models: &'static [&'static str],
}

pub const KNOWN_PROGRAMS: [KnownProgram; 3] = [
    KnownProgram {
        adapter: HarnessAdapter::ClaudeCode,
        name: "Claude Code",
        command: "claude",
        key_names: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        models: &["claude-opus-5-5", "opus", "sonnet", "haiku"],
    },
    KnownProgram {
        adapter: HarnessAdapter::Codex,
        name: "Codex",
        command: "codex",
        key_names: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        models: &["gpt-5", "gpt-5-mini"],
    },
    KnownProgram {
        adapter: HarnessAdapter::Gemini,
        name: "Gemini CLI",
        command: "gemini",
        key_names: &["GEMINI_API_KEY"],
        models: &["gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"],
    },
];

/// None for commands of the owner's own.
fn find(adapter: HarnessAdapter) -> Option<&'static KnownProgram> {
    KNOWN_PROGRAMS.iter().find(|program| program.adapter == adapter)
}

/// The program that an adapter is for, where the owner names no other.
pub fn default_program(adapter: HarnessAdapter) -> Option<&'static str> {
    find(adapter).map(|program| program.command)
}

/// The usual variable with the key of the program's model.
pub fn model_key(adapter: HarnessAdapter) -> Option<&'static str> {
    find(adapter)?.key_names.first().copied()
}

/// The variable that is missing if none of the program's keys is set. It may have logged in otherwise, so this is no fault by itself.
pub fn missing_key(adapter: HarnessAdapter, is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    let names = find(adapter)?.key_names;
    if names.iter().any(|name| is_set(name)) { None } else { names.first().copied() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Preset, Settings};
    use stoa_model::agents::HarnessTools;
    use stoa_model::secrets::is_model_key;

    #[test]
    fn every_known_program_has_a_preset_and_keys_of_models() {
        for program in KNOWN_PROGRAMS {
            let settings = Settings {
                command: &[],
                model: None,
                tools: HarnessTools::Hub,
                max_turns: None,
                max_cost_usd: None,
                instructions: "",
                mcp_url: "http://127.0.0.1/mcp",
                home: "/home",
                resume: None,
                is_isolated: false,
            };
            let preset = Preset::of(program.adapter, &settings).unwrap();
            assert_eq!(preset.command.first().map(String::as_str), Some(program.command));
            assert!(program.key_names.iter().all(|name| is_model_key(name)), "{}", program.name);
        }
        assert_eq!(default_program(HarnessAdapter::Generic), None);
        assert_eq!(model_key(HarnessAdapter::Codex), Some("OPENAI_API_KEY"));
    }
}
