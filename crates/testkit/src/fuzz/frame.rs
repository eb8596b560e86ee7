//! Fuzz target for frames that WebSocket clients send.

use holdshort_server::reading;

pub(super) fn frame(bytes: &[u8]) {
    match reading::frame(bytes) {
        Err(problem) => super::is_coded(&problem),
        Ok(frame) => {
            let written = serde_json::to_vec(&frame).expect("a frame can be written");
            assert_eq!(reading::frame(&written).ok(), Some(frame));
        }
    }
}
