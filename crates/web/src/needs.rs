//! The permission that a route needs. It is named where the route is declared and checked during authentication. A
//! route that names none is refused to everybody.

use axum::Extension;
use axum::routing::MethodRouter;
use holdshort_core::actor::Role;
use holdshort_core::rights::{self, Extent, Permission};

use crate::route_limit::RouteLimit;

/// A permission, and whether it must reach everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    pub permission: Permission,
    /// Rate that each request of a caller counts against.
    pub limit: RouteLimit,
    /// The route is about what is nobody's own: lists, sessions, the installation.
    pub of_all: bool,
}

/// A permission, however far it reaches: the handler says what the route is about, and the caller whether that is
/// within.
pub const fn any(permission: Permission) -> Needs {
    Needs { permission, limit: RouteLimit::None, of_all: false }
}

/// A permission that reaches everything.
pub const fn all(permission: Permission) -> Needs {
    Needs { permission, limit: RouteLimit::None, of_all: true }
}

impl Needs {
    /// How far it reaches for a role that may come in; `None` for one that may not.
    pub fn extent(self, role: Role) -> Option<Extent> {
        match rights::extent(role, self.permission) {
            Extent::Nothing => None,
            Extent::All => Some(Extent::All),
            within => (!self.of_all).then_some(within),
        }
    }

    /// Needs of a route that writes a decision, or a view of one, with each request.
    #[must_use]
    pub const fn decides(self) -> Self {
        Self { limit: RouteLimit::Decisions, ..self }
    }

    /// Routes that need it.
    pub fn on<S: Clone + Send + Sync + 'static>(self, routes: MethodRouter<S>) -> MethodRouter<S> {
        routes.layer(Extension(self))
    }
}
