//! The permission that a route needs. The permission is declared where the route is defined, and checked when the
//! caller has authenticated. A route without a declared permission is closed to every caller.

use axum::Extension;
use axum::routing::MethodRouter;
use holdshort_core::actor::Role;
use holdshort_core::rights::{self, Extent, Permission};

use crate::route_limit::RouteLimit;

/// Permission that a route needs, and the objects to which the permission must apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    pub permission: Permission,
    /// Rate limit against which each request to the route is counted.
    pub limit: RouteLimit,
    /// True if the permission must apply to all objects. Such routes are about objects without an owner, such as lists,
    /// sessions or the installation.
    pub of_all: bool,
}

/// Requires a permission for a route, even if the permission applies only to some objects. The handler must then check
/// the object of the route.
pub const fn any(permission: Permission) -> Needs {
    Needs { permission, limit: RouteLimit::None, of_all: false }
}

/// Requires for a route a permission that applies to all objects.
pub const fn all(permission: Permission) -> Needs {
    Needs { permission, limit: RouteLimit::None, of_all: true }
}

impl Needs {
    /// Returns the objects to which the permission of the route applies for a role. Returns `None` if the role may not
    /// use the route.
    pub fn extent(self, role: Role) -> Option<Extent> {
        match rights::extent(role, self.permission) {
            Extent::Nothing => None,
            Extent::All => Some(Extent::All),
            within => (!self.of_all).then_some(within),
        }
    }

    /// Adds the rate limit of decisions, for a route on which each request records a decision, or records that a person
    /// has viewed an interrupt.
    #[must_use]
    pub const fn with_decision_limit(self) -> Self {
        Self { limit: RouteLimit::Decisions, ..self }
    }

    /// Attaches this permission, its required extent and its rate limit to the routes.
    pub fn on<S: Clone + Send + Sync + 'static>(self, routes: MethodRouter<S>) -> MethodRouter<S> {
        routes.layer(Extension(self))
    }
}
