//! Test helper: a process whose first thread exits while a second one keeps running. It looks like a zombie, but is alive.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

fn main() {
    thread::spawn(|| {
        let stat = format!("/proc/{}/stat", std::process::id());
        while !fs_err::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z ")) {
            thread::yield_now();
        }
        #[expect(clippy::disallowed_methods, reason = "the test waits for this line")]
        let mut stdout = std::io::stdout();
        writeln!(stdout, "pid {}", std::process::id()).ok();
        thread::sleep(Duration::from_hours(1));
    });
    // SAFETY: ends this thread only. Nothing on its stack needs to be dropped.
    #[expect(unsafe_code, reason = "there is no safe way to end the first thread alone")]
    unsafe {
        libc::syscall(libc::SYS_exit, 0);
    }
}
