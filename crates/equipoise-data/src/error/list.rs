//! Names in a sentence.

const SHOWN: usize = 10;

/// `` `a`, `b`, `c` ``; after ten of them " and more".
pub(crate) fn list(items: &[String]) -> String {
    let shown: Vec<String> = items.iter().take(SHOWN).map(|item| format!("`{item}`")).collect();
    let more = if items.len() > SHOWN { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn lists_stop_after_ten() {
        let names: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        assert_eq!(list(&names[..2]), "`0`, `1`");
        assert!(list(&names[..10]).ends_with("`9`"));
        assert!(list(&names).ends_with("`9` and more"));
    }
}
