//! The permission that a route needs, named where the route is declared, and checked during authentication. A route
//! without one is forbidden to every caller.

use axum::Extension;
use axum::routing::MethodRouter;
use holdshort_core::actor::Role;
use holdshort_core::rights::{self, Extent, Permission};

use crate::route_limit::RouteLimit;

/// A permission, and whether it must cover everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    pub permission: Permission,
    /// Rate limit that counts each request of a caller.
    pub limit: RouteLimit,
    /// True if the route is about objects without an owner: lists, sessions, the installation.
    pub of_all: bool,
}

/// Requires a permission of any extent. The handler knows the object of the route, and the caller checks that it is
/// within the extent.
pub const fn any(permission: Permission) -> Needs {
    Needs { permission, limit: RouteLimit::None, of_all: false }
}

/// Requires a permission that covers everything.
pub const fn all(permission: Permission) -> Needs {
    Needs { permission, limit: RouteLimit::None, of_all: true }
}

impl Needs {
    /// Returns the extent of the permission for a role; `None` if the role may not use the route.
    pub fn extent(self, role: Role) -> Option<Extent> {
        match rights::extent(role, self.permission) {
            Extent::Nothing => None,
            Extent::All => Some(Extent::All),
            within => (!self.of_all).then_some(within),
        }
    }

    /// Needs of a route that writes a decision, or a view of one, with each request.
    #[must_use]
    pub const fn with_decision_limit(self) -> Self {
        Self { limit: RouteLimit::Decisions, ..self }
    }

    /// Declares routes that have these needs.
    pub fn on<S: Clone + Send + Sync + 'static>(self, routes: MethodRouter<S>) -> MethodRouter<S> {
        routes.layer(Extension(self))
    }
}
