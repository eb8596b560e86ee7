//! Check of a call of an external agent: the verdict of the gates.

use axum::Json;
use holdshort_core::definition::EXTERNAL;
use holdshort_core::gate::foreign_trial::Evidence;
use holdshort_core::gate::{Release, Verdict};
use holdshort_core::id::{Draw, SessionId};
use holdshort_core::interrupt::{Assignment, Risk};
use holdshort_core::run::GateContext;
use holdshort_core::session::Session;
use holdshort_engine::Clock;
use holdshort_protocol::{Code, PolicyCheck, PolicyVerdict, VerdictWord};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view;

use crate::convert;
use crate::openapi::ChecksPolicy;

/// Check the verdict of the gates on a call.
///
/// The verdict is `allow`, `ask` with the reasons, or `forbid`. The verdict depends on the rules of the installation,
/// the classification of commands, and the grants of a session. The check opens no interrupt, and the journal does not
/// record it. If the agent later opens an interrupt for the call, the rules that are in effect then apply.
#[utoipa::path(
    post, path = "/v1/policy/check", tag = "interrupts", operation_id = "check_policy",
    request_body = PolicyCheck,
    responses((status = 200, description = "The verdict of the gates", body = PolicyVerdict), ChecksPolicy)
)]
pub(crate) async fn check(caller: Caller, body: Body) -> Answer<Json<PolicyVerdict>> {
    let PolicyCheck { call, session, agent } = body.json().await?;
    let call = convert::call(call);
    let mut problems = call.problems("/call");
    problems.extend(holdshort_core::run::unkeepable(&serde_json::json!(call), "/call"));
    if !problems.is_empty() {
        return Err(Refused::invalid(problems));
    }
    let agent = match agent {
        Some(agent) if agent != caller.actor.id && !caller.reaches_all() => {
            return Err(Refused::new(
                Code::ForbiddenRole,
                "an agent may check only its own calls: omit `agent`",
            ));
        }
        Some(agent) => agent,
        None => caller.actor.id.clone(),
    };
    let driver = &caller.app.driver;
    let session = if let Some(id) = caller.session(session.as_deref()).await? {
        driver.session(&id).await.map_err(super::runs::unknown_session)?
    } else {
        let id: SessionId = Draw::new(driver.clock().seed(), caller.app.now()).id();
        Session::new(id).into()
    };
    let system = driver.system().await?;
    let gated = call.gated(GateContext {
        agent: &agent,
        assignment: &Assignment::default(),
        session: &session,
        system: &system,
        now: caller.app.now(),
        asked_at: None,
        evidence: Evidence::default(),
    });
    let freezes = &system.freezes;
    let is_frozen = freezes.of_workflow(EXTERNAL).is_some() || freezes.of_agent(&agent).is_some();
    let (verdict, allowed_by) = match &gated.verdict {
        Verdict::Forbid(_) => (VerdictWord::Forbid, None),
        Verdict::Ask { .. } => (VerdictWord::Ask, None),
        // While the workflow or the agent is frozen, neither a rule nor a person can allow a call.
        Verdict::Allow(_) if is_frozen => (VerdictWord::Ask, None),
        Verdict::Allow(release) => {
            let by = match release {
                Release::Rule { .. } => "rule",
                Release::Grant { .. } => "grant",
                Release::OpensInterrupt => "nothing",
            };
            (VerdictWord::Allow, Some(by.to_owned()))
        }
    };
    let risk = Risk { level: gated.level, reasons: gated.reasons() };
    let risk = holdshort_core::risk::raised(risk, &holdshort_core::risk::of_call(&call));
    let rule = match &gated.verdict {
        Verdict::Allow(Release::Rule { source, rule }) => Some(view::interrupt::rule_words(*source, *rule)),
        Verdict::Allow(_) => None,
        Verdict::Ask { .. } | Verdict::Forbid(_) => view::interrupt::rule_of(&risk),
    };
    let policy = holdshort_protocol::Policy { rule, version: system.policy_version };
    Ok(Json(PolicyVerdict { verdict, risk: view::interrupt::risk(&risk), allowed_by, policy }))
}
