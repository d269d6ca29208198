//! Any bytes are some frame; a message prints back as an equal message, and its payload is parsed without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use musher_wire::{Frame, METHODS, Side, inspect};

fuzz_target!(|line: &[u8]| {
    // a line contains no line break
    if line.contains(&b'\n') {
        return;
    }
    let frame = Frame::parse(line);
    let payload = match &frame {
        Frame::Request(request) => request.params.clone(),
        Frame::Notification(notification) => notification.params.clone(),
        Frame::Response(response) => response.outcome.clone().ok(),
        Frame::Malformed(_) => return,
    };
    assert_eq!(Frame::parse(frame.to_line().as_bytes()), frame);
    let Some(payload) = payload else { return };
    for method in METHODS.iter().chain(&["droid.session_notification"]) {
        for side in [Side::Params, Side::Result] {
            if let Some(Ok(read)) = inspect(method, side, &payload) {
                assert_eq!(read.printed, payload, "{method} {side:?}");
            }
        }
    }
});
