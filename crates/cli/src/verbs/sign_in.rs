//! Sign-in and sign-out. A login link signs a browser in at a server on this machine. An identity provider signs this
//! terminal in at a remote server.

use std::time::Duration;

use holdshort_protocol::{Code, DeviceHandle, DeviceLogin, DeviceProgress, LoginProvider, TokenLogin, plain};
use reqwest::Url;
use serde_json::json;
use tokio::time::sleep;

use super::{Scene, links};
use crate::client::{self, Client, code, is_passing};
use crate::data_dir::DataDir;
use crate::exit::Exit;
use crate::login_store::{self, Login};
use crate::output::{print_json, print_message_lines, print_text};
use crate::program_name::holdshort;
use crate::shell::quoted;
use crate::terminal::paint::Paint;
use crate::terminal::time;

/// Maximum time that a terminal waits for a person to sign in, even if the server allows more.
const LONGEST_WAIT: Duration = Duration::from_mins(30);
/// Minimum time between two requests with which a terminal polls for the sign-in, even if the server allows less.
const SHORTEST_PAUSE: Duration = Duration::from_millis(200);

/// Implements `login`: prints a login link, or signs this terminal in at a remote server with an identity provider.
pub(super) async fn login(scene: &Scene, person: Option<String>) -> anyhow::Result<Exit> {
    let Some(server) = elsewhere(scene, person.as_deref())? else {
        return links::login(scene, person).await;
    };
    let client = Client::unknown(&server)?;
    let provider: LoginProvider = match client.get("/v1/login/provider").await {
        Ok(provider) => provider,
        // This server has no identity provider, so people sign in with links and keys.
        Err(error) if code(&error) == Some(Code::NotFound) => return links::login(scene, person).await,
        Err(error) => return Err(error),
    };
    let begun: DeviceLogin = client.post("/v1/device-logins", &json!({})).await?;
    invite(scene, &provider, &begun)?;
    let login = signed_in(&client, &begun).await?;
    let data = DataDir::resolve(scene.reach.data.as_deref())?;
    let TokenLogin { token, person, role, expires_at } = login;
    let kept = Login { token, person: person.clone(), expires_at: expires_at.clone() };
    login_store::save(&data, &server, kept)?;
    if scene.json {
        print_json(&json!({
            "server": client.address(), "person": person, "role": role, "expires_at": expires_at,
        }))?;
    } else {
        let words = format!(" --server {}", quoted(&client.address()));
        print_note(&format!(
            "Signed in as {} until {}. `{} inbox{words}` lists your inbox there.",
            plain::line(&person),
            time::at(&expires_at),
            holdshort()
        ));
    }
    Ok(Exit::Ok)
}

/// Returns the remote server at which this terminal is to sign in. Returns `None` if it is the server of the data
/// folder, whose token is on this machine.
fn elsewhere(scene: &Scene, person: Option<&str>) -> anyhow::Result<Option<Url>> {
    let has_token = std::env::var("HOLDSHORT_TOKEN").is_ok_and(|token| !token.is_empty());
    let Some(named) = scene.reach.server.as_deref().filter(|_| person.is_none() && !has_token) else {
        return Ok(None);
    };
    let server = client::address(named)?;
    let data = DataDir::resolve(scene.reach.data.as_deref())?;
    let own = data.listening().and_then(|address| Url::parse(&address).ok());
    Ok((own.map(|own| own.origin()) != Some(server.origin())).then_some(server))
}

fn invite(scene: &Scene, provider: &LoginProvider, begun: &DeviceLogin) -> anyhow::Result<()> {
    let page = begun.page_with_code.as_deref().unwrap_or(&begun.page);
    if scene.json {
        print_json(&json!({
            "page": begun.page, "page_with_code": begun.page_with_code, "user_code": begun.user_code,
            "expires_at": begun.expires_at,
        }))?;
        return Ok(());
    }
    print_text(&plain::line(page));
    print_note(&format!(
        "Open this page in any browser and sign in with {}. The code is {}; the code is valid until {}.",
        plain::line(&provider.name),
        plain::line(&begun.user_code),
        time::at(&begun.expires_at)
    ));
    Ok(())
}

/// Polls the server until the person has signed in, at the interval that the server requests.
async fn signed_in(client: &Client, begun: &DeviceLogin) -> anyhow::Result<TokenLogin> {
    let mut handle = DeviceHandle { device: begun.device.clone() };
    let (mut pause, mut waited) = (Duration::from_millis(begun.interval_ms), Duration::ZERO);
    loop {
        let now = pause.clamp(SHORTEST_PAUSE, LONGEST_WAIT);
        sleep(now).await;
        waited += now;
        match client.post::<DeviceProgress>("/v1/device-logins/progress", &handle).await {
            Ok(DeviceProgress { login: Some(login), .. }) => return Ok(login),
            Ok(DeviceProgress { wait_ms, device, .. }) => {
                pause = wait_ms.map_or(pause, Duration::from_millis);
                handle.device = device.unwrap_or(handle.device);
            }
            Err(error) if waited < LONGEST_WAIT && may_pass(&error) => {}
            Err(error) => return Err(error),
        }
        if waited >= LONGEST_WAIT {
            anyhow::bail!("the sign-in was not completed in time: repeat the command");
        }
    }
}

fn may_pass(error: &anyhow::Error) -> bool {
    is_passing(error) || matches!(code(error), Some(Code::IdentityUnavailable | Code::TooManyRequests))
}

/// Implements `logout`: ends the login of this terminal, or all logins of the person. The stored token is deleted after
/// the server has confirmed the logout.
pub(super) async fn logout(scene: &Scene, everywhere: bool) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let ended = client.delete(if everywhere { "/v1/logins" } else { "/v1/login" }).await;
    let had_ended = match ended {
        Ok(_) => false,
        Err(error) if client.is_signed_in() && code(&error) == Some(Code::Unauthenticated) => true,
        Err(error) => return Err(error),
    };
    let data = DataDir::resolve(scene.reach.data.as_deref())?;
    login_store::remove(&data, &client::address(&client.address())?)?;
    if scene.json {
        print_json(&json!({"server": client.address(), "everywhere": everywhere}))?;
    } else if had_ended {
        print_text(&format!("The login at {} had already ended.", client.address()));
    } else {
        let whence = if everywhere { " everywhere" } else { "" };
        print_text(&format!("Signed out of {}{whence}.", client.address()));
    }
    Ok(Exit::Ok)
}

fn print_note(text: &str) {
    let paint = Paint::stderr();
    let note = paint.message(text, 0);
    print_message_lines(&note.iter().map(|line| paint.dim(line)).collect::<Vec<_>>());
}
