//! Suggests similar names.

/// The names that differ from `requested` only in case or in at most two letters, nearest first.
pub(super) fn close_matches(requested: &str, names: &[String]) -> Vec<String> {
    let requested = requested.to_lowercase();
    let mut close: Vec<(usize, &String)> = names
        .iter()
        .map(|name| (edit_distance(&requested, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 2 && *distance < name.chars().count())
        .collect();
    close.sort();
    close.into_iter().map(|(_, name)| name.clone()).collect()
}

/// Levenshtein distance.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{close_matches, edit_distance};

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("lsat", "lsat"), 0);
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["LSAT", "lsta", "ugpa", "s"].map(String::from);
        assert_eq!(close_matches("lsat", &names), ["LSAT", "lsta"]);
        assert!(close_matches("zfygpa", &["s".to_string()]).is_empty());
    }
}
