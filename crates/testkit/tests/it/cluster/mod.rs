//! Three real servers on one real PostgreSQL. Clients use all three servers, and nodes are killed, frozen or
//! disconnected during their work. No work is lost or done twice, and a different node takes over within the lease
//! (design, part 5).

mod audited;
mod broken;
mod conversation;
mod dumped;
mod encrypted;
mod load;
mod moved;
mod outage;
mod proxy;
mod rolling;
mod takeover;
mod together;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer, eventually};
use serde_json::Value;

use crate::play::SOLO;

const NAMES: [&str; 3] = ["a", "b", "c"];

pub(crate) struct Cluster {
    pub(crate) model: ScriptedModel,
    pub(crate) nodes: Vec<TestServer>,
}

impl Cluster {
    /// Starts the nodes of a cluster. On any node, agents reply with these steps, by position.
    pub(crate) async fn start(steps: impl Into<Vec<Scripted>>) -> Self {
        Self::start_on(&database().await, steps, |node| node).await
    }

    /// Starts the nodes of a cluster on this database. `change` adapts the setup of each node.
    pub(crate) async fn start_on(
        url: &str,
        steps: impl Into<Vec<Scripted>>,
        change: impl Fn(Setup) -> Setup,
    ) -> Self {
        let model = ScriptedModel::start().await;
        model.script("solo", steps);
        let mut nodes = Vec::new();
        for name in NAMES {
            nodes.push(change(setup(&model).database(url, name)).start().await);
        }
        Self { model, nodes }
    }

    /// Returns the name of the node that drives the run, as node number `asked` of the cluster reports it.
    pub(crate) async fn driver(&self, asked: usize, run: &str) -> Option<String> {
        let nodes = self.nodes[asked].get("/v1/nodes").await.ok();
        let drives = |node: &&Value| node["runs"].as_array().unwrap().iter().any(|each| each == run);
        let found = nodes["items"].as_array().unwrap().iter().find(drives)?;
        Some(found["name"].as_str().unwrap().to_owned())
    }

    /// Asserts that every node of the cluster returns the same events of the run, and that the audit succeeds.
    pub(crate) async fn assert_one_story(&self, run: &str) {
        let mut stories = Vec::new();
        for node in &self.nodes {
            stories.push(node.events(run).await);
        }
        assert!(stories.windows(2).all(|two| two[0] == two[1]), "nodes tell different stories of {run}");
        assert_eq!(self.nodes[0].get("/v1/audit/verify").await.ok()["intact"], true);
    }
}

/// Returns the URL of a new database in the PostgreSQL server that all tests share.
pub(crate) async fn database() -> String {
    tokio::task::spawn_blocking(|| holdshort_testpg::shared().database()).await.unwrap()
}

/// Runs an SQL statement as the superuser of PostgreSQL. Returns its output.
pub(crate) async fn sql(url: &str, statement: &str) -> String {
    let words = ["-Atc".to_owned(), statement.to_owned(), url.to_owned()];
    let psql = move || holdshort_testpg::shared().run("psql", &words.each_ref().map(|word| &**word));
    tokio::task::spawn_blocking(psql).await.unwrap().unwrap().trim().to_owned()
}

/// Adds two copies of a row of the database table `agreed` without an event, as a crash leaves them. One copy is old,
/// and one copy is recent. Returns the names of both copies.
pub(crate) async fn leave_behind(url: &str, row: &str) -> [String; 2] {
    let (folder, id) = row.split_once('/').unwrap();
    let (kind, _) = id.split_once('_').unwrap();
    let (drawn, last) = row.split_at(row.len() - 1);
    let other = if last == "0" { "1" } else { "0" };
    let copies = [format!("{folder}/{kind}_01k6f0000000000000000000aa"), format!("{drawn}{other}")];
    for copy in &copies {
        let put = format!(
            "INSERT INTO agreed (name, value) SELECT '{copy}', value FROM agreed WHERE name = '{row}'"
        );
        sql(url, &put).await;
    }
    copies
}

pub(crate) fn setup(model: &ScriptedModel) -> Setup {
    TestServer::setup().workflow("solo", SOLO).model(model)
}

pub(crate) async fn wait_lines(node: &TestServer, file: &str, n: usize) {
    eventually("the command runs", async || (node.lines(file) == n).then_some(())).await;
}
