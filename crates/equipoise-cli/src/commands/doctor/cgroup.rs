//! The memory limit of the control group, in versions 1 and 2 of that interface.

use std::path::{Path, PathBuf};

const MOUNT: &str = "/sys/fs/cgroup";

/// The smallest limit of this process's group and the groups around it.
pub(super) fn memory_limit() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    files(&groups)
        .into_iter()
        .filter_map(|file| parse(&std::fs::read_to_string(Path::new(MOUNT).join(file)).ok()?))
        .min()
}

/// The files that may hold a limit, below the mount point. Inside a container the own group is often at the root,
/// whatever its path says, so the path and all its parents are tried.
fn files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (folder, name) = match controllers {
            "" => ("", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        files.extend(path.ancestors().map(|group| Path::new(folder).join(group).join(name)));
    }
    files
}

/// `None` for `max`, and for the huge number by which version 1 means the same.
fn parse(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|&limit| limit < 1 << 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_files_of_both_versions() {
        let two = files("0::/user.slice/a.scope\n");
        let names: Vec<String> = two.iter().map(|file| file.display().to_string()).collect();
        assert_eq!(names, ["user.slice/a.scope/memory.max", "user.slice/memory.max", "memory.max"]);
        let one = files("9:name=systemd:/\n4:cpu,memory:/box\n1:cpu:/\n");
        let names: Vec<String> = one.iter().map(|file| file.display().to_string()).collect();
        assert_eq!(names, ["memory/box/memory.limit_in_bytes", "memory/memory.limit_in_bytes"]);
    }

    #[test]
    fn no_limit_has_two_spellings() {
        assert_eq!(parse("536870912\n"), Some(512 << 20));
        assert_eq!(parse("max\n"), None);
        assert_eq!(parse("9223372036854771712\n"), None);
    }
}
