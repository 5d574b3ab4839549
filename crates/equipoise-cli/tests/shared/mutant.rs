//! Damaged copies of a file.

/// One to four changes: a flipped bit, a changed byte, or a piece removed, duplicated or cut off.
pub(crate) fn mutant(valid: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    let mut bytes = valid.to_vec();
    for _ in 0..1 + below(4) {
        let at = below(bytes.len());
        let end = (at + 1 + below(32)).min(bytes.len());
        match below(5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(8),
            1 if at < bytes.len() => bytes[at] = below(256) as u8,
            2 => drop(bytes.drain(at.min(end)..end)),
            3 => {
                let piece = bytes[at.min(end)..end].to_vec();
                let to = below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            _ if below(4) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
    bytes
}
