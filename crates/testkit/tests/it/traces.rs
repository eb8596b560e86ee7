//! Traces that a collector receives. A run that has ended becomes a tree of spans with the timestamps of its events.
//! One node exports the run once, even if the collector or the server fails.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::time::Timestamp;
use holdshort_testkit::collector::{Collector, attributes, text};
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer, eventually};
use opentelemetry_proto::tonic::trace::v1::Span;
use reqwest::Method;
use serde_json::json;

use crate::cluster::database;
use crate::play::{SOLO, ask, done, one, write};

/// Text that people, agents and models write in these tests, and that must not be exported.
const SAID: &str = "planted-7f3a9c";
const KEY: &str = "collector-key-51c0";

fn setup(model: &ScriptedModel, collector: &Collector) -> Setup {
    TestServer::setup()
        .workflow("solo", SOLO)
        .model(model)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.base())
        .env("OTEL_EXPORTER_OTLP_HEADERS", &format!("authorization=Bearer%20{KEY}"))
}

async fn wait_for_spans(collector: &Collector, run: &str) -> Vec<Span> {
    eventually("the run is told of", async || {
        let spans = collector.spans_for_run(run);
        (!spans.is_empty()).then_some(spans)
    })
    .await
}

async fn metric(server: &TestServer, name: &str) -> u64 {
    let response = server.request(Method::GET, "/metrics").send().await.unwrap();
    let told = response.text().await.unwrap();
    let found = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("no {name} in\n{told}"))
}

/// Returns, for each span of a trace, the name of its parent, its own name, and its outcome.
fn tree(spans: &[Span]) -> Vec<(String, String, String)> {
    let names: BTreeMap<&[u8], &str> = spans.iter().map(|span| (&*span.span_id, &*span.name)).collect();
    let above = |span: &Span| names.get(&*span.parent_span_id).copied().unwrap_or("-").to_owned();
    let end = |span: &Span| {
        let of = attributes(span);
        let keys = ["holdshort.status", "holdshort.end", "holdshort.interrupt.outcome", "holdshort.stop"];
        keys.iter().find_map(|key| of.get(*key).cloned()).unwrap_or_default()
    };
    spans.iter().map(|span| (above(span), span.name.clone(), end(span))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_a_trace_and_an_interrupt_a_span_with_its_waiting_time() {
    let (model, collector) = (ScriptedModel::start().await, Collector::start().await);
    let calls =
        Scripted::calls([write("a.txt", SAID), ask(SAID), ("no_such_tool_planted-7f3a9c", json!({}))]);
    model.script("solo", [calls, Scripted::text(SAID)]);
    let server = setup(&model, &collector).start().await;
    let run = server.start_run("solo", SAID).await;
    let open = server.wait_open(&run, 2).await;
    let (write, question) =
        if open[0]["kind"] == "question" { (&open[1], &open[0]) } else { (&open[0], &open[1]) };
    server.choose(write, "approve").await;
    assert_eq!(collector.exports().len(), 0, "what lives is not told");
    server.decide(question, &json!({ "option": "answer", "text": SAID })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    let spans = wait_for_spans(&collector, &run).await;

    let root = spans.iter().find(|span| span.parent_span_id.is_empty()).unwrap();
    let expected = [
        ("-", "run solo", "completed"),
        ("run solo", "phase work", "completed"),
        ("phase work", "invoke_agent solo", "completed"),
        ("invoke_agent solo", "chat scripted", "whole"),
        ("invoke_agent solo", "execute_tool write_file", "done"),
        ("invoke_agent solo", "execute_tool ask_human", "answered"),
        // The span of an unknown tool contains no tool name, because the model wrote that name.
        ("invoke_agent solo", "execute_tool", "failed"),
        ("execute_tool write_file", "interrupt tool_approval", "approved"),
        ("execute_tool ask_human", "interrupt question", "answered"),
        ("invoke_agent solo", "chat scripted", "whole"),
    ];
    let mut found = tree(&spans);
    found.sort();
    let mut wanted: Vec<_> =
        expected.map(|(above, name, end)| (above.to_owned(), name.to_owned(), end.to_owned())).into();
    wanted.sort();
    assert_eq!(found, wanted);

    // The ids are valid and unique, and the timestamps are those of the events.
    let ids: BTreeSet<&[u8]> = spans.iter().map(|span| &*span.span_id).collect();
    assert_eq!((ids.len(), root.trace_id.len()), (spans.len(), 16));
    assert!(ids.iter().all(|id| id.len() == 8 && id.iter().any(|byte| *byte != 0)));
    let shown = |nanos: u64| Timestamp::from_millis((nanos / 1_000_000).cast_signed()).to_string();
    let events = server.events(&run).await;
    let at = |kind: &str| events.iter().find(|event| event["type"] == kind).expect(kind)["at"].clone();
    assert_eq!(at("run_started"), shown(root.start_time_unix_nano));
    assert_eq!(at("run_completed"), shown(root.end_time_unix_nano));
    for span in &spans {
        let within = root.start_time_unix_nano..=root.end_time_unix_nano;
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
        assert!(within.contains(&span.start_time_unix_nano) && within.contains(&span.end_time_unix_nano));
    }

    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name}"));
    let has = |span: &Span, wanted: &[(&str, &str)]| {
        let of = attributes(span);
        for (key, value) in wanted {
            assert_eq!(of.get(*key).map(|value| &**value), Some(*value), "{key} of {}: {of:?}", span.name);
        }
    };
    let session = server.run(&run).await["session"].as_str().unwrap().to_owned();
    has(
        root,
        &[
            ("holdshort.run.id", &run),
            ("holdshort.workflow", "solo"),
            ("gen_ai.conversation.id", &session),
            ("holdshort.status", "completed"),
        ],
    );
    let chat = of("chat scripted");
    let usage = &events.iter().find(|event| event["type"] == "model_replied").unwrap()["data"]["usage"];
    has(
        chat,
        &[
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "scripted"),
            ("gen_ai.usage.input_tokens", &usage["input_tokens"].to_string()),
            ("gen_ai.usage.output_tokens", &usage["output_tokens"].to_string()),
        ],
    );
    assert_eq!(chat.kind, 3, "a client's");
    has(
        of("execute_tool write_file"),
        &[("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "write_file")],
    );
    let interrupt = of("interrupt tool_approval");
    let took = (interrupt.end_time_unix_nano - interrupt.start_time_unix_nano) / 1_000_000;
    has(
        interrupt,
        &[
            ("holdshort.interrupt.id", write["id"].as_str().unwrap()),
            ("holdshort.interrupt.kind", "tool_approval"),
            ("holdshort.interrupt.outcome", "approved"),
            ("holdshort.interrupt.cause", "decision"),
            ("holdshort.waited_ms", &took.to_string()),
        ],
    );

    // The export names its service, and sends its API key only in the header.
    let [sent] = &collector.exports()[..] else { panic!("not one") };
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(sent.headers["content-type"], "application/x-protobuf");
    let resource = sent.request.resource_spans[0].resource.clone().unwrap();
    let resource: BTreeMap<String, String> = resource.attributes.iter().map(text).collect();
    assert_eq!(resource["service.name"], "holdshort");
    // No name, attribute or status contains a text of people, agents or models.
    for planted in [SAID, server.token(), KEY] {
        let body = &sent.body;
        assert!(!body.windows(planted.len()).any(|part| part == planted.as_bytes()), "{planted}");
    }
    assert_eq!(metric(&server, "holdshort_traces_exported_total").await, 1);
    assert_eq!(metric(&server, "holdshort_traces_waiting").await, 0);
    assert!(!server.stderr().contains(KEY) && !server.stderr().contains(SAID));
}

/// The trace of an external agent's run contains only the run and its interrupt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_elsewhere_asks_is_told() {
    let (model, collector) = (ScriptedModel::start().await, Collector::start().await);
    let server = setup(&model, &collector).start().await;
    let body = json!({ "kind": "question", "title": SAID, "message": SAID, "payload": { "a": SAID } });
    let asked = server.send(server.agent_request(Method::POST, "/v1/interrupts").json(&body)).await.ok();
    server.decide(&asked, &json!({ "option": "answer", "text": SAID })).await.ok();
    let spans = wait_for_spans(&collector, asked["run"].as_str().unwrap()).await;
    let expected = [("-", "run external", "completed"), ("run external", "interrupt question", "answered")];
    assert_eq!(tree(&spans), expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    let body = &collector.exports()[0].body;
    assert!(!body.windows(SAID.len()).any(|part| part == SAID.as_bytes()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_down_gets_it_later_also_after_a_kill() {
    let (model, collector) = (ScriptedModel::start().await, Collector::start().await);
    model.script("solo", [done()]);
    collector.refuse(Some(503));
    let mut server = setup(&model, &collector).start().await;
    let run = server.start_run("solo", "work").await;
    server.wait_status(&run, &["completed"]).await;
    eventually("it is tried", async || (!collector.exports().is_empty()).then_some(())).await;
    assert_eq!(metric(&server, "holdshort_traces_waiting").await, 1);
    eventually("it is counted", async || {
        (metric(&server, "holdshort_trace_export_failures_total").await >= 1).then_some(())
    })
    .await;
    assert_eq!(metric(&server, "holdshort_traces_exported_total").await, 0);
    let first = collector.exports()[0].body.clone();

    server.kill();
    collector.refuse(None);
    server.start().await;
    wait_for_spans(&collector, &run).await;
    let last = collector.exports().pop().unwrap();
    assert_eq!(last.body, first, "it is told in the same words: the ids are those of the first time");
    eventually("it is counted", async || {
        (metric(&server, "holdshort_traces_exported_total").await == 1).then_some(())
    })
    .await;

    // Exported runs are not exported again after a restart.
    server.stop().await;
    let before = collector.exports().len();
    server.start().await;
    let another = server.start_run("solo", "work").await;
    wait_for_spans(&collector, &another).await;
    assert_eq!((collector.exports().len(), collector.spans_for_run(&run).len()), (before + 1, 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_wants_none_is_not_asked_again() {
    let (model, collector) = (ScriptedModel::start().await, Collector::start().await);
    model.script("solo", [done()]);
    collector.refuse(Some(400));
    let server = setup(&model, &collector).start().await;
    let run = server.start_run("solo", "work").await;
    server.wait_status(&run, &["completed"]).await;
    eventually("it is dropped", async || {
        let response = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
        response.contains("holdshort_traces_dropped_total{reason=\"refused\"} 1").then_some(())
    })
    .await;
    collector.refuse(None);
    let another = server.start_run("solo", "work").await;
    wait_for_spans(&collector, &another).await;
    assert_eq!((collector.exports().len(), collector.spans_for_run(&run).len()), (2, 0));
}

/// Only the node that ends a run exports the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_nodes_one_tells() {
    let (model, collector) = (ScriptedModel::start().await, Collector::start().await);
    model.script("solo", [one(ask("Which?")), done()]);
    let url = database().await;
    let mut nodes = Vec::new();
    for name in ["a", "b"] {
        nodes.push(setup(&model, &collector).database(&url, name).start().await);
    }
    let mut runs = Vec::new();
    for n in 0..6 {
        let run = nodes[n % 2].start_run("solo", "work").await;
        let question = nodes[n % 2].wait_one(&run).await;
        // The decision is sent to the other node.
        let answer = json!({ "option": "answer", "text": "This." });
        nodes[(n + 1) % 2].decide(&question, &answer).await.ok();
        nodes[n % 2].wait_status(&run, &["completed"]).await;
        runs.push(run);
    }
    let mut traces = BTreeSet::new();
    for run in &runs {
        let spans = wait_for_spans(&collector, run).await;
        assert!(traces.insert(spans[0].trace_id.clone()));
    }
    for node in &mut nodes {
        node.stop().await;
    }
    let spans = collector.spans();
    let ids: BTreeSet<&[u8]> = spans.iter().map(|span| &*span.span_id).collect();
    assert_eq!((ids.len(), traces.len()), (spans.len(), runs.len()), "each span is told once");
    let of_nodes = collector.exports().into_iter().map(|export| {
        let resource = export.request.resource_spans[0].resource.clone().unwrap();
        resource.attributes.iter().map(text).find(|(key, _)| key == "service.instance.id").unwrap().1
    });
    assert!(of_nodes.collect::<BTreeSet<_>>().is_subset(&["a".to_owned(), "b".to_owned()].into()));
}

/// If a client sends a trace when it starts a run, the run joins that trace below the span of the client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_a_part_of_the_trace_of_who_asked_for_it() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (model, collector) = (ScriptedModel::start().await, Collector::start().await);
    model.script("solo", [done().repeat()]);
    let server = setup(&model, &collector).start().await;
    let start = async |traceparent: &[&str]| {
        let mut request = server.request(Method::POST, "/v1/runs").json(&server.run_body("solo", SAID));
        for each in traceparent {
            request = request.header("traceparent", *each);
        }
        let run = server.send(request).await.ok()["id"].as_str().unwrap().to_owned();
        server.wait_status(&run, &["completed"]).await;
        let spans = wait_for_spans(&collector, &run).await;
        let is_root = |span: &&Span| attributes(span).get("holdshort.run.id") == Some(&run);
        spans.iter().find(is_root).unwrap().clone()
    };
    let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
    let joined = start(&[PARENT]).await;
    assert_eq!(hex(&joined.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(hex(&joined.parent_span_id), "00f067aa0ba902b7");
    // Two runs that join the same trace become two spans below the span of the client.
    let other = start(&[PARENT]).await;
    assert_eq!((&other.trace_id, &other.parent_span_id), (&joined.trace_id, &joined.parent_span_id));
    assert_ne!(other.span_id, joined.span_id);

    let unrecorded = PARENT.replace("-01", "-00");
    for none in [&[][..], &[&*unrecorded], &[PARENT, PARENT], &["of nobody"]] {
        let root = start(none).await;
        assert!(root.parent_span_id.is_empty() && root.trace_id != joined.trace_id, "{none:?}");
    }
}
