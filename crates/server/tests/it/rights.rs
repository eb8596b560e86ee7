//! The permissions that the server enforces, for each route of the OpenAPI document and each role.

use std::path::Path;

use holdshort_core::actor::Role;
use holdshort_core::rights::{Extent, ROLES, TABLE, extent};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Served, send_request, text};

/// Returns true if the role has the needed permission for an object that belongs to an agent and is assigned to nobody.
fn may(role: Role, needs: &Value) -> bool {
    let named = |name: &Value| TABLE.iter().find(|(permission, _)| permission.name() == *name);
    let (permission, _) = named(&needs["permission"]).expect("a permission of the table");
    match (extent(role, *permission), needs["of"] == "all") {
        (Extent::All, _) | (Extent::Unassigned, false) => true,
        (Extent::Own, false) => role == Role::Agent,
        // Assignments are checked when a request names an interrupt. No interrupt is assigned to the reviewer in this
        // test.
        (Extent::Nothing | Extent::Own | Extent::Assigned | Extent::Unassigned, _) => false,
    }
}

/// Routes whose path names no object. A role with the permission for some objects may call these routes, and sees only
/// these objects.
const OF_WHATEVER_IS_THEIRS: [&str; 15] = [
    "post /v1/policy/check",
    "get /v1/agent/decisions",
    "get /v1/runs",
    "get /v1/events",
    "get /v1/login",
    "delete /v1/login",
    "delete /v1/logins",
    "post /v1/plans/layout",
    "get /v1/me/push",
    "post /v1/me/push",
    "delete /v1/me/push/{id}",
    "get /v1/interrupts",
    // The person in the path does not exist. An authorized caller gets 404.
    "get /v1/people/{person}",
    "put /v1/people/{person}/away",
    "delete /v1/people/{person}/away",
];

#[tokio::test]
async fn each_route_lets_in_whom_the_table_says() {
    let served = Served::with_issuer().await;
    let document = holdshort_server::openapi();
    let mut wrong = Vec::new();
    let mut met = 0;
    let mut asked = None;
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let name = format!("{method} {path}");
            let Some(needs) = operation.get("x-needs") else { continue };
            // The WebSocket authenticates its client with a frame.
            if path == "/v1/ws" {
                continue;
            }
            for role in ROLES {
                // The operator of a local start is also an admin, so each single role needs a separate token.
                let api = match role {
                    Role::Agent => served.agent(),
                    role => served.issued(&format!("one-{}", role.as_str()), role),
                };
                let own = match asked.take() {
                    Some(own) => own,
                    None => served.agent().ask().await,
                };
                let path = path
                    .replace("/runs/{id}", &format!("/runs/{}", text(&own, "run")))
                    .replace("/interrupts/{id}", &format!("/interrupts/{}", text(&own, "id")))
                    .replace("/sessions/{id}", &format!("/sessions/{}", text(&own, "session")))
                    .replace("{phase}", "plan")
                    .replace("{n}", "1")
                    .replace("/keys/{id}", "/keys/key_01k6f0000000000000000000aa")
                    .replace("{id}", "gra_01k6f0000000000000000000aa");
                let path = if name == "get /v1/interrupts" {
                    format!("{path}?run={}", text(&own, "run"))
                } else {
                    path
                };
                let method: Method = method.to_uppercase().parse().expect("a method");
                let body = match name.as_str() {
                    "post /v1/runs" => json!({"workflow": "external", "input": {"task": "t"}}),
                    "post /v1/interrupts" => json!({"kind": "question", "title": "t"}),
                    "post /v1/keys" => json!({"name": "bot"}),
                    "post /v1/interrupts/{id}/consume" => json!({"digest": "0".repeat(64)}),
                    "post /v1/interrupts/{id}/comments" => json!({"text": "t"}),
                    "post /v1/interrupts/{id}/decisions" => json!({"option": "skip"}),
                    "post /v1/interrupts/{id}/delegate" => json!({"to": "operator"}),
                    "post /v1/interrupts/{id}/exec" => json!({"outcome": "done"}),
                    "post /v1/interrupts/{id}/reassign" => {
                        json!({"assignment": {"approvers": ["operator"]}})
                    }
                    _ => json!({}),
                };
                let request = api.request(method, &path).header("accept", "application/json").json(&body);
                let (status, refusal) = send_request(request).await;
                // The route may have resolved the interrupt, so the next route gets a new interrupt.
                if status >= 400 || name.starts_with("get ") {
                    asked = Some(own);
                }
                let code = refusal["code"].as_str().unwrap_or_default();
                let is_let_in = !(status == 403 && ["forbidden_role", "not_an_approver"].contains(&code));
                let listed = OF_WHATEVER_IS_THEIRS.contains(&name.as_str());
                let some = |needs: &Value| {
                    let (permission, _) =
                        TABLE.iter().find(|(it, _)| it.name() == needs["permission"]).expect("it is there");
                    extent(role, *permission) != Extent::Nothing
                };
                let expected = if listed { some(needs) } else { may(role, needs) };
                if is_let_in != expected {
                    wrong.push(format!("{name} as {role:?}: {status} {code}"));
                }
                met += 1;
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(met > 5 * 35, "{met}");
}

/// Needed permission of each route, listed a second time so that an unintended change fails this test.
const NEEDS: &[(&str, &str, &str)] = &[
    ("get /metrics", "audit", "all"),
    ("get /v1/agent/decisions", "ask", "any"),
    ("get /v1/answers", "read", "all"),
    ("delete /v1/answers/{interrupt}", "steer", "all"),
    ("post /v1/answers/{interrupt}/correct", "steer", "all"),
    ("post /v1/audit/checkpoints", "audit", "all"),
    ("get /v1/audit/consistency", "audit", "all"),
    ("get /v1/audit/events", "audit", "all"),
    ("get /v1/audit/events/{stream}/{seq}", "audit", "all"),
    ("get /v1/audit/head", "audit", "all"),
    ("get /v1/audit/verify", "audit", "all"),
    ("get /v1/channels", "read", "all"),
    ("get /v1/deliveries", "read", "all"),
    ("get /v1/deliveries/{id}", "read", "all"),
    ("post /v1/deliveries/{id}/retry", "halt", "all"),
    ("post /v1/erasures", "administer", "all"),
    ("get /v1/events", "read", "any"),
    ("get /v1/grants", "read", "all"),
    ("delete /v1/grants/{id}", "halt", "all"),
    ("get /v1/groups", "read", "all"),
    ("put /v1/groups/{group}/hours", "administer", "all"),
    ("delete /v1/groups/{group}/hours", "administer", "all"),
    ("get /v1/info", "read", "all"),
    ("get /v1/interrupts", "read", "any"),
    ("post /v1/interrupts", "ask", "any"),
    ("get /v1/interrupts/{id}", "read", "any"),
    ("get /v1/interrupts/{id}/bodies/{digest}", "ask", "any"),
    ("post /v1/interrupts/{id}/cancel", "steer", "any"),
    ("post /v1/interrupts/{id}/claim", "decide", "any"),
    ("get /v1/interrupts/{id}/comments", "read", "any"),
    ("post /v1/interrupts/{id}/comments", "decide", "any"),
    ("post /v1/interrupts/{id}/consume", "ask", "any"),
    ("post /v1/interrupts/{id}/decisions", "decide", "any"),
    ("delete /v1/interrupts/{id}/decisions", "decide", "any"),
    ("post /v1/interrupts/{id}/delegate", "assign", "any"),
    ("post /v1/interrupts/{id}/exec", "ask", "any"),
    ("post /v1/interrupts/{id}/links", "assign", "all"),
    ("post /v1/interrupts/{id}/reassign", "assign", "any"),
    ("post /v1/interrupts/{id}/release", "decide", "any"),
    ("post /v1/interrupts/{id}/snooze", "decide", "any"),
    ("post /v1/interrupts/{id}/views", "decide", "any"),
    ("get /v1/keys", "administer", "all"),
    ("post /v1/keys", "administer", "all"),
    ("get /v1/keys/{id}", "administer", "all"),
    ("delete /v1/keys/{id}", "administer", "all"),
    ("post /v1/keys/{id}/rotate", "administer", "all"),
    ("get /v1/login", "read", "any"),
    ("delete /v1/login", "read", "any"),
    ("post /v1/login-links", "sign_in", "all"),
    ("delete /v1/logins", "read", "any"),
    ("get /v1/me/push", "decide", "any"),
    ("post /v1/me/push", "decide", "any"),
    ("delete /v1/me/push/{id}", "decide", "any"),
    ("get /v1/nodes", "read", "all"),
    ("get /v1/people", "read", "all"),
    ("get /v1/people/{person}", "read", "any"),
    ("put /v1/people/{person}", "administer", "all"),
    ("delete /v1/people/{person}", "administer", "all"),
    ("put /v1/people/{person}/away", "decide", "any"),
    ("delete /v1/people/{person}/away", "decide", "any"),
    ("delete /v1/people/{person}/logins", "administer", "all"),
    ("post /v1/plans/layout", "decide", "any"),
    ("post /v1/policy/check", "ask", "any"),
    ("get /v1/receipts/{interrupt}", "audit", "all"),
    ("get /v1/receipts/{interrupt}/page", "audit", "all"),
    ("get /v1/runs", "read", "any"),
    ("post /v1/runs", "steer", "any"),
    ("get /v1/runs/{id}", "read", "any"),
    ("post /v1/runs/{id}/calls/{call}/stop", "steer", "all"),
    ("post /v1/runs/{id}/cancel", "steer", "any"),
    ("get /v1/runs/{id}/events", "read", "any"),
    ("post /v1/runs/{id}/finish", "steer", "any"),
    ("get /v1/runs/{id}/hold", "read", "all"),
    ("post /v1/runs/{id}/hold", "administer", "all"),
    ("delete /v1/runs/{id}/hold", "administer", "all"),
    ("post /v1/runs/{id}/interrupt", "steer", "all"),
    ("get /v1/runs/{id}/layer", "read", "all"),
    ("post /v1/runs/{id}/merge", "steer", "all"),
    ("post /v1/runs/{id}/messages", "steer", "any"),
    ("get /v1/runs/{id}/model-requests", "read", "all"),
    ("get /v1/runs/{id}/model-requests/{n}", "read", "all"),
    ("post /v1/runs/{id}/pause", "steer", "any"),
    ("get /v1/runs/{id}/plans", "read", "all"),
    ("put /v1/runs/{id}/plans/{phase}", "steer", "all"),
    ("get /v1/runs/{id}/result", "read", "any"),
    ("post /v1/runs/{id}/resume", "halt", "any"),
    ("post /v1/runs/{id}/undo", "steer", "all"),
    ("get /v1/runs/{id}/work", "read", "all"),
    ("get /v1/sessions", "read", "all"),
    ("post /v1/sessions", "steer", "all"),
    ("get /v1/sessions/{id}", "read", "all"),
    ("post /v1/sessions/{id}/close", "steer", "all"),
    ("get /v1/sessions/{id}/conversation", "read", "all"),
    ("get /v1/sessions/{id}/grants", "read", "all"),
    ("get /v1/sessions/{id}/interrupts", "read", "all"),
    ("post /v1/sessions/{id}/messages", "steer", "all"),
    ("get /v1/sessions/{id}/plans", "read", "all"),
    ("get /v1/sessions/{id}/refusals", "read", "all"),
    ("delete /v1/sessions/{id}/refusals/{interrupt}", "halt", "all"),
    ("post /v1/sessions/{id}/resume", "halt", "all"),
    ("post /v1/sessions/{id}/suspend", "steer", "all"),
    ("get /v1/system", "read", "all"),
    ("post /v1/system/freeze", "halt", "all"),
    ("post /v1/system/unfreeze", "halt", "all"),
    ("get /v1/workflows", "read", "all"),
    ("get /v1/ws", "read", "any"),
];

/// Every route under `/v1` declares the permission that it needs, or is listed as public.
#[test]
fn each_route_names_what_it_needs() {
    let document = holdshort_server::openapi();
    let (mut open, mut named) = (Vec::new(), Vec::new());
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let name = format!("{method} {path}");
            match operation.get("x-needs") {
                None => open.push(name),
                Some(needs) => named.push(json!([name, needs["permission"], needs["of"]])),
            }
        }
    }
    let expected = [
        "get /docs/errors",
        "get /docs/errors/{code}",
        "get /healthz",
        "get /readyz",
        "get /v1/asyncapi.json",
        "post /v1/device-logins",
        "post /v1/device-logins/progress",
        "post /v1/login",
        "post /v1/login/backchannel",
        "get /v1/login/provider",
        "get /v1/openapi.json",
    ];
    assert_eq!(open, expected);
    let by_hand: Vec<Value> = NEEDS.iter().map(|row| json!(row)).collect();
    assert_eq!(named, by_hand);
}

/// `docs/reference/rights.md` contains the table of permissions, which this test writes with `UPDATE_SNAPSHOTS=1`.
#[test]
fn the_page_holds_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rights.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let role =
        |role: &Role| serde_json::to_value(role).expect("a word").as_str().unwrap_or_default().to_owned();
    let mut table = format!("| permission | {} |\n|---|", ROLES.map(|it| role(&it)).join(" | "));
    table.push_str(&"---|".repeat(ROLES.len()));
    table.push('\n');
    for (permission, extents) in TABLE {
        let cells = extents.map(|extent| match extent {
            Extent::Nothing => "–",
            Extent::Own => "their own",
            Extent::Assigned => "assigned to them",
            Extent::Unassigned => "assigned to them or to nobody",
            Extent::All => "all",
        });
        table.push_str(&["| `", permission.name(), "` | ", &cells.join(" | "), " |\n"].concat());
    }
    let (before, rest) = page.split_once("<!-- rights -->\n").expect("a place for it");
    let (_, after) = rest.split_once("<!-- end -->").expect("an end of it");
    let right = format!("{before}<!-- rights -->\n{table}<!-- end -->{after}");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, right).expect("it can be written");
    } else {
        assert!(
            page == right,
            "docs/reference/rights.md is behind: UPDATE_SNAPSHOTS=1 cargo test -p holdshort-server"
        );
    }
}
