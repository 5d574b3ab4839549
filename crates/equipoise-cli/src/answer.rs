//! What a command that ran has to say.

/// The answer of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done, or the answer is "yes".
    Done,
    /// It is done and the answer is "no": not fair, not converged.
    No,
}

impl Answer {
    /// `Done` where this holds.
    pub(crate) fn holds(yes: bool) -> Self {
        if yes { Self::Done } else { Self::No }
    }
}
