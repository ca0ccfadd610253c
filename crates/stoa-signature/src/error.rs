//! What can be wrong with a signature.

/// Why a request is not believed. The sentences are for whoever sent it, and repeat none of their headers at length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The headers cannot be understood, or could be understood in two ways.
    #[error("{0}")]
    Malformed(String),
    /// The signature is not one by this key over this request, or not meant for this verifier. Which of these it is, is
    /// not told: it would help whoever guesses.
    #[error("The signature is not valid for this request.")]
    Invalid,
    /// Too old, too early, or valid for too long.
    #[error("{0}")]
    Expired(String),
    /// A parameter, a component or a digest that must be there is missing.
    #[error("{0}")]
    Incomplete(String),
    /// The body is not the one that was signed.
    #[error("The body does not have the digest that Content-Digest says it has.")]
    DigestMismatch,
}

impl SignatureError {
    pub(crate) fn malformed(sentence: impl Into<String>) -> Self {
        Self::Malformed(sentence.into())
    }

    pub(crate) fn incomplete(sentence: impl Into<String>) -> Self {
        Self::Incomplete(sentence.into())
    }
}

/// Why a request could not be signed. A verifier would refuse it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    #[error("the key id must be PRINCIPAL/KID, for instance svc:sense:demo/key-2026-01")]
    KeyId,
    #[error("the tag must be svc-machine-v1:AUDIENCE, for instance svc-machine-v1:svc-brain")]
    Tag,
    #[error("the nonce must be 22 to 64 characters of the base64url alphabet, and be used only once")]
    Nonce,
    #[error("the lifetime must be 1 to 300 seconds")]
    Lifetime,
    #[error("the time of signing is out of range")]
    Time,
    #[error("a request with a body must have one Content-Type")]
    ContentType,
    #[error("the request already has {0}, which the signer adds or which may not stand beside a signature")]
    Header(&'static str),
    #[error("{0}")]
    Request(SignatureError),
}

/// At most 40 characters of a name that somebody else chose.
pub(crate) fn short(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
