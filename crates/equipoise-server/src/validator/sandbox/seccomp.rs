//! Seccomp: the system calls that decoding a file needs. Every other call fails with EPERM: nothing is opened, no
//! socket, process, thread or executable memory is made, no process is signalled or traced.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter_all_threads,
};

/// Calls that are allowed with any arguments. They act only on this process and on open descriptors.
const ALLOWED: [libc::c_long; 24] = [
    // Input and output.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // The standard library: locks, time, hash seeds, panics, stack overflows.
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_gettid,
    libc::SYS_getpid,
    // The end.
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Installs the filter.
pub(super) fn restrict() -> Result<(), String> {
    let filter = filter().map_err(|error| error.to_string())?;
    apply_filter_all_threads(&filter).map_err(|error| match error {
        seccompiler::Error::Prctl(source) | seccompiler::Error::Seccomp(source) => {
            format!("the kernel does not support it: {source}")
        }
        other => other.to_string(),
    })
}

fn filter() -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
    let executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![only_if(2, executable.clone(), 0)?]);
    }
    // `abort` signals its own process. The filter cannot outlive it, because it cannot fork.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![only_if(0, SeccompCmpOp::Eq, own)?]);
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, denied, SeccompAction::Allow, architecture)?.try_into()
}

/// Allows a call only with this argument.
fn only_if(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?;
    SeccompRule::new(vec![condition])
}
