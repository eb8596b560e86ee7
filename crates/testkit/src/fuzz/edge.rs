//! What clients of other systems send: messages of `CodeLab`, frames of MARS with their config.

use holdshort_server::reading;

pub(super) fn edge(bytes: &[u8]) {
    let mars = std::str::from_utf8(bytes).ok().map(reading::mars);
    for problem in [reading::codelab(bytes).err(), mars.and_then(Result::err)].into_iter().flatten() {
        super::is_coded(&problem);
    }
}
