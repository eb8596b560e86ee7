//! A certified OpenID provider on this machine (npm `oidc-provider`), and a client with cookies that signs in there.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use reqwest::{Method, Url};
use serde_json::Value;

/// A running OpenID provider. It stops when it is dropped.
#[derive(Debug)]
pub struct Provider {
    child: Child,
    issuer: String,
}

impl Provider {
    /// Starts an OpenID provider. `people` contains the claims of each person.
    pub fn start(people: &Value) -> Self {
        Self::at(people, 0)
    }

    fn at(people: &Value, port: u16) -> Self {
        let folder = folder();
        let installed = folder.join("node_modules/oidc-provider");
        assert!(installed.exists(), "run `npm ci` in {}", folder.display());
        let mut child = Command::new("node")
            .arg(folder.join("provider.js"))
            .args([people.to_string(), port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON of the provider");
        Self { issuer: told["issuer"].as_str().expect("an issuer").to_owned(), child }
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Sets the claims that the OpenID provider makes about a person.
    pub async fn says(&self, person: &str, claims: &Value) {
        let http = holdshort_http::plain().no_proxy().build().expect("a client");
        let request = http.put(format!("{}/people/{person}", self.issuer)).json(claims);
        let status = request.send().await.expect("an answer").status();
        assert_eq!(status.as_u16(), 204);
    }

    /// Sets the base URLs of those servers to which the OpenID provider sends back-channel logout notices.
    pub async fn notifies(&self, servers: &[&str]) {
        let http = holdshort_http::plain().no_proxy().build().expect("a client");
        let request = http.put(format!("{}/notified", self.issuer)).json(&servers);
        assert_eq!(request.send().await.expect("an answer").status().as_u16(), 204);
    }

    /// Returns the logout tokens that the OpenID provider has sent.
    pub async fn notices(&self) -> Vec<String> {
        let http = holdshort_http::plain().no_proxy().build().expect("a client");
        let answer = http.get(format!("{}/notices", self.issuer)).send().await.expect("an answer");
        answer.json().await.expect("a list")
    }

    pub fn stop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Restarts the OpenID provider on the same port, with these people instead of the previous ones. The previous
    /// people can no longer sign in.
    pub fn again(&mut self, people: &Value) {
        let port = Url::parse(&self.issuer).ok().and_then(|url| url.port()).expect("a port");
        self.stop();
        *self = Self::at(people, port);
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.stop();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("oidc")
}

/// A browser without scripts that fills in and submits forms. All ports of a host share the cookies.
#[derive(Clone, Debug)]
pub struct Visitor {
    person: String,
    pub cookies: BTreeMap<String, String>,
    http: reqwest::Client,
}

/// Response to a request of the simulated browser.
#[derive(Debug)]
pub struct Page {
    pub url: Url,
    pub status: u16,
    /// Value of the response header `Location`: the target of a redirect.
    pub location: Option<Url>,
    /// Values of the response headers `Set-Cookie`.
    pub set: Vec<String>,
    pub text: String,
}

impl Visitor {
    /// Creates a simulated browser that signs in as this person.
    pub fn new(person: &str) -> Self {
        let http = holdshort_http::plain().no_proxy().redirect(reqwest::redirect::Policy::none());
        let http = http.build().expect("a client");
        Self { person: person.to_owned(), cookies: BTreeMap::new(), http }
    }

    /// Returns the value that the simulated browser sends in the header `Cookie`.
    pub fn cookie_line(&self) -> String {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        cookies.join("; ")
    }

    pub async fn get(&mut self, url: &str) -> Page {
        self.send(Method::GET, url, None).await
    }

    async fn send(&mut self, method: Method, url: &str, form: Option<String>) -> Page {
        let mut request = self.http.request(method, url).header("cookie", self.cookie_line());
        if let Some(form) = form {
            request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        }
        let answer = request.send().await.expect("an answer");
        let (url, status) = (answer.url().clone(), answer.status().as_u16());
        let lines = |name: &str| {
            let values = answer.headers().get_all(name).iter();
            values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect::<Vec<_>>()
        };
        let set = lines("set-cookie");
        for line in &set {
            let (name, value) = line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a pair");
            let is_gone = line.contains("Max-Age=0") || line.to_lowercase().contains("01 jan 1970");
            if is_gone {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = lines("location").first().map(|to| url.join(to).expect("a URL"));
        let text = answer.text().await.expect("the whole answer");
        Page { url, status, location, set, text }
    }

    /// Follows redirects and submits forms, starting at `url`. Returns the address of the first redirect whose target
    /// begins with `end`. If a page without a form is reached before, returns this page as the error.
    pub async fn signs_in(&mut self, url: &str, end: &str) -> Result<String, Page> {
        let mut page = self.get(url).await;
        for _ in 0..30 {
            if let Some(next) = page.location.clone() {
                if next.as_str().starts_with(end) {
                    return Ok(next.into());
                }
                page = self.get(next.as_str()).await;
            } else if let Some((action, fields)) = self.form(&page) {
                page = self.send(Method::POST, action.as_str(), Some(fields)).await;
            } else {
                return Err(page);
            }
        }
        panic!("the sign-in does not reach its end: {}", page.url);
    }

    /// Returns the address to which the first form on a page is sent, and its fields, filled in.
    fn form(&self, page: &Page) -> Option<(Url, String)> {
        let (_, rest) = page.text.split_once("<form")?;
        let (form, _) = rest.split_once("</form>")?;
        let action = attribute(form.split_once('>')?.0, "action")?;
        let mut fields = url_encoder();
        for input in form.split("<input").skip(1).filter_map(|rest| rest.split_once('>')) {
            let Some(name) = attribute(input.0, "name") else { continue };
            let value = match name.as_str() {
                "login" => self.person.clone(),
                "password" => "any".to_owned(),
                _ => attribute(input.0, "value").unwrap_or_default(),
            };
            fields.query_pairs_mut().append_pair(&name, &value);
        }
        // The button of the logout page sends this field.
        if form.contains("op.logoutForm") {
            fields.query_pairs_mut().append_pair("logout", "yes");
        }
        Some((page.url.join(&action).ok()?, fields.query().unwrap_or_default().to_owned()))
    }
}

fn url_encoder() -> Url {
    Url::parse("http://form.invalid/").expect("a URL")
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    Some(value.replace("&amp;", "&"))
}
