//! Fuzz target for messages of other systems' clients: `CodeLab` messages, and MARS frames with their config.

use holdshort_server::reading;

pub(super) fn edge(bytes: &[u8]) {
    let mars = std::str::from_utf8(bytes).ok().map(reading::mars);
    for problem in [reading::codelab(bytes).err(), mars.and_then(Result::err)].into_iter().flatten() {
        super::is_coded(&problem);
    }
}
