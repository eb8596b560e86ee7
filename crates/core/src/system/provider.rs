//! Sign-outs that an identity provider reports: one session of a person, or all sessions of a person (back-channel
//! logout of `OpenID` Connect). The journal stores only digests of session ids.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::limits::{PROVIDER_SIGN_OUTS, PROVIDER_SIGN_OUTS_MS};
use crate::people::{Moment, Since};

/// Sessions that ended at the identity provider, and the logout notices of the provider. The notices are stored, so
/// that a notice that arrives at several server nodes takes effect only once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignedOutThere {
    sessions: BTreeMap<Digest, Moment>,
    notices: BTreeMap<Digest, Moment>,
}

impl SignedOutThere {
    /// Returns true if one of the sessions with which a person signed in has ended after `since`.
    pub fn has_ended(&self, sessions: &[Digest], since: Since) -> bool {
        sessions
            .iter()
            .filter_map(|session| self.sessions.get(session))
            .any(|moment| since.is_before(*moment))
    }

    pub(super) fn is_known(&self, notice: &Digest) -> bool {
        self.notices.contains_key(notice)
    }

    pub(super) fn ended(&mut self, session: Digest, notice: Digest, moment: Moment) {
        for (all, new) in [(&mut self.sessions, session), (&mut self.notices, notice)] {
            // Entries that are older than the longest possible login are dropped.
            all.retain(|_, before| moment.at.ms_since(before.at) <= PROVIDER_SIGN_OUTS_MS);
            if all.len() >= PROVIDER_SIGN_OUTS {
                let first = all.iter().min_by_key(|(_, moment)| moment.seq).map(|(digest, _)| *digest);
                first.and_then(|digest| all.remove(&digest));
            }
            all.insert(new, moment);
        }
    }
}
