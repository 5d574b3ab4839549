//! A receipt as a client keeps it.

use serde::{Deserialize, Serialize};

use super::key::{PublicKey, Signature};
use super::signed_documents::{Receipt, SignedReceipt};

/// The file that `submit` writes: the signed receipt, and whether its key was known beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedReceipt {
    /// The receipt.
    pub receipt: Receipt,
    /// The server's key.
    pub server_key: PublicKey,
    /// The signature over the receipt.
    pub signature: Signature,
    /// Whether the client compared `server_key` with its own copy. Otherwise, the key is only what the server said.
    /// Nobody signs this, so it is information for the client and never a reason to trust the key.
    #[serde(default)]
    pub server_key_pinned: bool,
}

impl SavedReceipt {
    /// The file for a receipt.
    pub fn new(signed: SignedReceipt, server_key_pinned: bool) -> Self {
        let SignedReceipt { receipt, server_key, signature } = signed;
        Self { receipt, server_key, signature, server_key_pinned }
    }

    /// The receipt as the server signed it.
    pub fn into_signed(self) -> SignedReceipt {
        let Self { receipt, server_key, signature, .. } = self;
        SignedReceipt { receipt, server_key, signature }
    }
}
