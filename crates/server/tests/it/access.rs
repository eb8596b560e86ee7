//! Permissions of callers, and the accepted hosts and origins.

use std::io::{Read, Write};

use reqwest::Method;
use reqwest::header::{HOST, ORIGIN};
use serde_json::json;

use crate::harness::{Served, created, ok, question, refusal, send_request, text};

#[tokio::test]
async fn without_a_token_nothing_is_told() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    let stranger = served.api(None);
    let paths = [
        (Method::GET, "/v1/runs".to_owned()),
        (Method::GET, format!("/v1/runs/{}", text(&asked, "run"))),
        (Method::GET, format!("/v1/runs/{}/events", text(&asked, "run"))),
        (Method::GET, format!("/v1/interrupts/{}", text(&asked, "id"))),
        (Method::POST, format!("/v1/interrupts/{}/decisions", text(&asked, "id"))),
        (Method::POST, "/v1/interrupts".to_owned()),
        (Method::POST, "/v1/runs".to_owned()),
        (Method::GET, "/v1/info".to_owned()),
        (Method::GET, "/v1/workflows".to_owned()),
        (Method::POST, "/v1/system/freeze".to_owned()),
        (Method::GET, "/v1/audit/verify".to_owned()),
    ];
    for (method, path) in paths {
        let response = stranger.request(method.clone(), &path).send().await.unwrap();
        assert_eq!(response.status(), 401, "{method} {path}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer realm=\"holdshort\"");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }
    let token = served.operator();
    let Some(right) =
        token.request(Method::GET, "/").build().unwrap().headers().get("authorization").cloned()
    else {
        panic!("no token");
    };
    let right = right.to_str().unwrap();
    for wrong in [
        "Bearer ",
        "Bearer hs_op_0000000000000000000000000000000000000000000000000000000000000000",
        &right.replace("Bearer", "Basic"),
        &right[..right.len() - 1],
        &format!("{right}0"),
        &right.to_uppercase(),
    ] {
        let request = stranger.request(Method::GET, "/v1/runs").header("authorization", wrong);
        assert_eq!(refusal(&send_request(request).await), (401, "unauthenticated", vec![]), "{wrong}");
    }
    // A token is accepted neither as a query parameter nor as a cookie.
    let bare = right.trim_start_matches("Bearer ");
    assert_eq!(stranger.get(&format!("/v1/runs?token={bare}")).await.0, 401);
    let cookie = stranger.request(Method::GET, "/v1/runs").header("cookie", format!("token={bare}"));
    assert_eq!(send_request(cookie).await.0, 401);

    for open in ["/healthz", "/readyz", "/v1/openapi.json"] {
        assert_eq!(stranger.get(open).await.0, 200, "{open}");
    }
    let page = stranger.request(Method::GET, "/docs/errors/stale").send().await.unwrap();
    assert!(page.text().await.unwrap().starts_with("# stale\n"));
}

#[tokio::test]
async fn an_agent_asks_and_reads_its_own() {
    let served = Served::with_checkpoint().await;
    let (agent, operator) = (served.agent(), served.operator());
    let own = agent.ask().await;
    let native =
        created(operator.post("/v1/runs", &json!({"workflow": "look", "input": {"task": "t"}})).await);
    let others = operator.ask().await;

    for run in [text(&native, "id"), text(&others, "run")] {
        for path in ["", "/result", "/events"] {
            let said = agent.get(&format!("/v1/runs/{run}{path}")).await;
            assert_eq!(refusal(&said), (403, "forbidden_role", vec![]), "{path}");
        }
        let finish = agent.post(&format!("/v1/runs/{run}/finish"), &json!({"result": 1})).await;
        assert_eq!(refusal(&finish), (403, "forbidden_role", vec![]));
        for path in ["pause", "cancel", "messages"] {
            let said = agent.post(&format!("/v1/runs/{run}/{path}"), &json!({"text": "t"})).await;
            assert_eq!(refusal(&said), (403, "forbidden_role", vec![]), "{path}");
        }
        let ask = agent.post("/v1/interrupts", &json!({"kind": "question", "title": "t", "run": run})).await;
        assert_eq!(refusal(&ask), (403, "forbidden_role", vec![]));
    }
    let interrupt = format!("/v1/interrupts/{}", text(&others, "id"));
    assert_eq!(refusal(&agent.get(&interrupt).await), (403, "forbidden_role", vec![]));

    let run = text(&own, "run");
    ok(agent.get(&format!("/v1/runs/{run}/events")).await);
    let list = ok(agent.get("/v1/runs").await);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, [&own["run"]]);
    assert_eq!(ok(agent.get("/v1/runs?workflow=look").await)["items"], json!([]));
    assert_eq!(ok(agent.get(&format!("/v1/interrupts?run={run}")).await)["items"], json!([own]));
    assert_eq!(refusal(&agent.get("/v1/interrupts").await), (403, "forbidden_role", vec![]));

    let never = [
        format!("/v1/interrupts/{}/decisions", text(&own, "id")),
        format!("/v1/runs/{run}/resume"),
        "/v1/system/freeze".to_owned(),
        "/v1/system/unfreeze".to_owned(),
    ];
    for path in never {
        let said = agent.post(&path, &json!({"option": "approve"})).await;
        assert_eq!(refusal(&said), (403, "forbidden_role", vec![]), "{path}");
    }
    let start = agent.post("/v1/runs", &json!({"workflow": "look", "input": {"task": "t"}})).await;
    assert_eq!(refusal(&start), (403, "forbidden_role", vec![]));
    for path in ["/v1/info", "/v1/system", "/v1/workflows", "/v1/audit/verify", "/v1/grants"] {
        assert_eq!(refusal(&agent.get(path).await), (403, "forbidden_role", vec![]), "{path}");
    }
    // An agent may ask only in a session in which it has a run.
    let asks_in = |session: &str| json!({"kind": "question", "title": "t", "message": "", "payload": {}, "session": session});
    let said = agent.post("/v1/interrupts", &asks_in(text(&others, "session"))).await;
    assert_eq!(refusal(&said), (422, "unknown_session", vec![]));
    created(agent.post("/v1/interrupts", &asks_in(text(&own, "session"))).await);
    let session = format!("/v1/sessions/{}", text(&own, "session"));
    assert_eq!(agent.get(&session).await.0, 403);
    assert_eq!(agent.delete("/v1/grants/gra_00000000000000000000000000").await.0, 403);
    assert_eq!(ok(operator.get(&format!("/v1/interrupts/{}", text(&own, "id"))).await)["status"], "open");
}

#[tokio::test]
async fn only_this_host_and_its_own_pages() {
    let served = Served::new().await;
    let operator = served.operator();
    let port = served.address().port();
    for host in ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example", ""] {
        for path in ["/v1/runs", "/v1/openapi.json", "/nothing", "/healthz/"] {
            let request = operator.request(Method::GET, path).header(HOST, host);
            assert_eq!(refusal(&send_request(request).await), (421, "wrong_host", vec![]), "{host} {path}");
        }
        // Probes and balancers address a server by its IP address.
        for path in ["/healthz", "/readyz", "/metrics"] {
            let send = async |method| send_request(operator.request(method, path).header(HOST, host)).await;
            assert_eq!(send(Method::GET).await.0, 200, "{host} {path}");
            assert_eq!(refusal(&send(Method::POST).await), (421, "wrong_host", vec![]), "{host} {path}");
        }
        let without_token = served.api(None).request(Method::GET, "/metrics").header(HOST, host);
        assert_eq!(refusal(&send_request(without_token).await), (421, "wrong_host", vec![]), "{host}");
    }
    // A target in absolute form also names a host.
    let address = served.address();
    let status = tokio::task::spawn_blocking(move || {
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let request = format!(
            "GET http://evil.example/v1/openapi.json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap().to_owned()
    });
    assert_eq!(status.await.unwrap(), "HTTP/1.1 421 Misdirected Request");
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let request = operator.request(Method::GET, "/v1/runs").header(HOST, format!("{host}:{port}"));
        ok(send_request(request).await);
    }
    for origin in ["http://evil.example", "null", "https://localhost", &format!("https://localhost:{port}")] {
        let request = operator.request(Method::POST, "/v1/interrupts").header(ORIGIN, origin);
        assert_eq!(
            refusal(&send_request(request.json(&question())).await),
            (403, "wrong_origin", vec![]),
            "{origin}"
        );
    }
    let same =
        operator.request(Method::POST, "/v1/interrupts").header(ORIGIN, format!("http://localhost:{port}"));
    created(send_request(same.json(&question())).await);
    let preflight = operator.request(Method::OPTIONS, "/v1/runs").header(ORIGIN, "http://evil.example");
    let preflight = preflight.header("access-control-request-method", "POST").send().await.unwrap();
    assert_eq!(preflight.status(), 405);
    assert!(!preflight.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn answers_stay_out_of_caches_and_frames() {
    let served = Served::new().await;
    for path in ["/v1/runs", "/nothing"] {
        let response = served.operator().request(Method::GET, path).send().await.unwrap();
        for (header, value) in [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(response.headers()[header], value, "{path}");
        }
    }
}
