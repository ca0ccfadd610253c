//! The environment of programs that run for agents: which variables may be set from outside.

/// Names that nobody sets, whatever they end with: they are the hub's own, or name code that every program loads.
const NEVER: [&str; 3] = ["STOA_", "LD_", "DYLD_"];

/// Names that choose the code that a program runs, the shell or tool it starts, or where it looks for its settings.
const RESERVED: [&str; 52] = [
    "PATH",
    "HOME",
    "SHELL",
    "USER",
    "LOGNAME",
    "PWD",
    "TMPDIR",
    "TMP",
    "TEMP",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESSOPEN",
    "GCONV_PATH",
    "LOCPATH",
    "GLIBC_TUNABLES",
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "ELECTRON_RUN_AS_NODE",
    "OPENSSL_CONF",
    "CURL_HOME",
    "KUBECONFIG",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "ZDOTDIR",
    "MANPAGER",
    "LESSCLOSE",
    "VIMINIT",
    "LUA_INIT",
    "PHPRC",
    "RUSTC_WRAPPER",
    "CARGO_HOME",
    "MAKEFLAGS",
    "GOFLAGS",
    "GOPROXY",
    "DOTNET_STARTUP_HOOKS",
    "OPENSSL_MODULES",
    "SANDBOX_FLAGS",
    "AWS_CONFIG_FILE",
    "OLLAMA_HOST",
    "PIP_CONFIG_FILE",
];

/// The same by how names begin: interpreters, package managers, version control, certificates, settings folders, and
/// the agent programs themselves.
const RESERVED_BEGINNINGS: [&str; 18] = [
    "NODE_",
    "NPM_",
    "BUN_",
    "DENO_",
    "PYTHON",
    "PERL",
    "RUBY",
    "GIT_",
    "SSL_",
    "XDG_",
    "CLAUDE_",
    "CODEX_",
    "GEMINI_CLI_",
    "GEMINI_SANDBOX",
    "DOCKER_",
    "YARN_",
    "PIP_",
    "UV_",
];

/// Where a program sends what it says, the key of its model included, and whose certificates it believes there.
const RESERVED_ENDINGS: [&str; 7] =
    ["_PROXY", "_BASE_URL", "_API_BASE", "_ENDPOINT", "_ENDPOINT_URL", "_INDEX_URL", "_CA_BUNDLE"];

/// What programs need to be given: a key in the wrong variable does nothing.
const CREDENTIAL_ENDINGS: [&str; 4] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];

/// Whether a variable must not be set for a program that runs for an agent. Such a variable can make a program run other
/// code than the one it is known for, or send its keys somewhere else. Upper and lower case are the same here: some
/// programs read both.
pub fn is_reserved_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| name.starts_with(beginning));
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if begins(&NEVER) {
        return true;
    }
    !ends(&CREDENTIAL_ENDINGS)
        && (RESERVED.contains(&name.as_str()) || begins(&RESERVED_BEGINNINGS) || ends(&RESERVED_ENDINGS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chooses_code_or_an_address_is_reserved() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT_KEY",
            "DYLD_INSERT_LIBRARIES",
            "STOA_KEY",
            "STOA_MCP_KEY",
            "PATH",
            "Path",
            "home",
            "SHELL",
            "TMPDIR",
            "IFS",
            "ENV",
            "BASH_ENV",
            "PS4",
            "NODE_OPTIONS",
            "node_options",
            "NODE_EXTRA_CA_CERTS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "RUBYOPT",
            "GIT_SSH_COMMAND",
            "GIT_EXEC_PATH",
            "SSL_CERT_FILE",
            "https_proxy",
            "ALL_PROXY",
            "ANTHROPIC_BASE_URL",
            "OPENAI_API_BASE",
            "REQUESTS_CA_BUNDLE",
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_TRUST_WORKSPACE",
            "JAVA_TOOL_OPTIONS",
            "ZDOTDIR",
            "GOPROXY",
            "AWS_ENDPOINT_URL",
            "AZURE_OPENAI_ENDPOINT",
            "PIP_INDEX_URL",
            "GEMINI_SANDBOX",
        ] {
            assert!(is_reserved_variable(name), "{name}");
        }
    }

    #[test]
    fn settings_and_credentials_are_not() {
        for name in [
            "LEVEL_1",
            "TOKEN",
            "LANG",
            "TZ",
            "MODEL",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_MODEL",
            "GEMINI_API_KEY",
            "OPENAI_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "GIT_TOKEN",
            "NODE_AUTH_TOKEN",
            "NPM_TOKEN",
            "DATABASE_URL",
            "MY_PATH",
            "PATHS",
            "OLD_HOME",
            "BUILD_ENV",
            "WORLD_LD_X",
        ] {
            assert!(!is_reserved_variable(name), "{name}");
        }
    }
}
