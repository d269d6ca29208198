//! Queries the Landlock version of the kernel.

/// Returns the ABI version; `None` if Landlock is unsupported or disabled.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only the bare call tells the version, and no crate we use wraps it")]
pub(super) fn abi() -> Option<u32> {
    const ONLY_THE_VERSION: u32 = 1;
    // SAFETY: with no attributes, a size of 0 and this flag the kernel reads and writes no memory of ours, opens nothing, and
    // returns a number
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            ONLY_THE_VERSION,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Returns `None` on other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn abi() -> Option<u32> {
    None
}
