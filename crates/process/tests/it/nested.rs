//! Programs that use this crate themselves: both the inner and the outer one find the processes of the inner one.

use musher_process::Command;

use crate::support::{PRINT_PID, start};

#[tokio::test]
async fn descendants_of_an_inner_program_are_killed_with_the_outer_one() {
    let host = env!("CARGO_BIN_EXE_musher-process-host");
    for sleeper in ["sleep 1000", "env -i setsid sleep 1000 <&- >&- 2>&-"] {
        for mode in ["kill", "interrupt", "keep"] {
            let script = format!("({sleeper} & {PRINT_PID}); sleep 1000");
            let (child, mut output) = start(Command::new(host).args([mode, &script])).await;
            let descendant = output.process();
            child.kill();
            assert!(!descendant.is_alive(), "{mode}: {sleeper}");
            child.reap().unwrap();
        }
    }
}
