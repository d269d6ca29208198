//! Programs that use this crate themselves: both see what the inner one started.

use musher_process::Command;

use crate::support::{TELL, start};

#[tokio::test]
async fn program_of_a_program_is_killed_with_the_outer_one() {
    let host = env!("CARGO_BIN_EXE_musher-process-host");
    for sleeper in ["sleep 1000", "env -i setsid sleep 1000 <&- >&- 2>&-"] {
        for mode in ["kill", "interrupt", "keep"] {
            let script = format!("({sleeper} & {TELL}); sleep 1000");
            let (child, mut output) = start(Command::new(host).args([mode, &script])).await;
            let below = output.process();
            child.kill();
            assert!(!below.is_alive(), "{mode}: {sleeper}");
            child.reap().unwrap();
        }
    }
}
