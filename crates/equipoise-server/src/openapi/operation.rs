//! All operations of `/v1`, listed once for the router and for the OpenAPI description.

/// An operation: one method on one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Get the OpenAPI description.
    Describe,
    /// Get the signed head of the server-wide log.
    GetHead,
    /// Get the server-wide log.
    GetLog,
    /// List all rounds.
    ListRounds,
    /// Get a round's state.
    GetRound,
    /// Get a round's schema.
    GetSchema,
    /// Stream a round's changes.
    Listen,
    /// Get a published file.
    GetFile,
    /// Submit a proxy.
    Submit,
    /// Get a client's receipt.
    GetReceipt,
    /// Get the progress of an upload.
    GetUpload,
    /// List clients and their submissions.
    ListClients,
    /// Revoke a client's key.
    Revoke,
    /// Open a draft.
    Open,
    /// Close a round.
    Close,
    /// Abort a round.
    Abort,
}

impl Operation {
    /// All operations, in the order of the description.
    pub const ALL: [Self; 16] = [
        Self::Describe,
        Self::GetHead,
        Self::GetLog,
        Self::ListRounds,
        Self::GetRound,
        Self::GetSchema,
        Self::Listen,
        Self::GetFile,
        Self::Submit,
        Self::GetReceipt,
        Self::GetUpload,
        Self::ListClients,
        Self::Revoke,
        Self::Open,
        Self::Close,
        Self::Abort,
    ];

    /// The path, with parameters in braces.
    pub fn path(self) -> &'static str {
        match self {
            Self::Describe => "/v1/openapi.json",
            Self::GetHead => "/v1/head",
            Self::GetLog => "/v1/log",
            Self::ListRounds => "/v1/rounds",
            Self::GetRound => "/v1/rounds/{round}",
            Self::GetSchema => "/v1/rounds/{round}/schema",
            Self::Listen => "/v1/rounds/{round}/events",
            Self::GetFile => "/v1/rounds/{round}/files/{file}",
            Self::Submit | Self::GetReceipt => "/v1/rounds/{round}/submissions/{client}",
            Self::GetUpload => "/v1/rounds/{round}/submissions/{client}/upload",
            Self::ListClients => "/v1/rounds/{round}/clients",
            Self::Revoke => "/v1/rounds/{round}/clients/{client}/revoke",
            Self::Open => "/v1/rounds/{round}/open",
            Self::Close => "/v1/rounds/{round}/close",
            Self::Abort => "/v1/rounds/{round}/abort",
        }
    }

    /// The method in lower case, as in OpenAPI.
    pub fn method(self) -> &'static str {
        match self {
            Self::Submit => "put",
            Self::Revoke | Self::Open | Self::Close | Self::Abort => "post",
            _ => "get",
        }
    }
}
