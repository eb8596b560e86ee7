//! Mails, with the real binary and a real SMTP server: recipients, injected content, and decisions through links
//! (contract E18, leaders 21).

use std::collections::BTreeSet;

use holdshort_testkit::mailbox::{Mailbox, SmtpSecurity, USER};
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) use holdshort_testkit::reviewer::{channel, link, mailed, number, page, text};

use crate::notifications::{ask, deliveries, resolve, wait_state};

/// Returns the YAML lines of a second mail channel, which follow those of the first channel.
fn again(name: &str, mailbox: &Mailbox, more: &str) -> String {
    let channel = channel(mailbox, more);
    channel.replacen("channels:\n", "", 1).replacen("  mail:", &format!("  {name}:"), 1)
}

/// Adds a person to the group `legal` at the server.
pub(crate) async fn person(server: &TestServer, id: &str, more: Value) {
    let mut body = json!({"roles": ["reviewer"], "groups": ["legal"],
        "addresses": {"email": format!("{id}@example.org")}});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    server.send(server.request(Method::PUT, &format!("/v1/people/{id}")).json(&body)).await.ok();
}

/// Returns the body of an interrupt that is assigned to the group `legal` and to the operator. `more` is added to its
/// fields.
pub(crate) fn to_legal(more: &Value) -> Value {
    let mut body = json!({"assignment": {"groups": ["legal"], "approvers": ["operator"]}});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

fn to<'m>(mails: &'m [Value], address: &str) -> &'m Value {
    mails.iter().find(|mail| mail["to"] == json!([address])).unwrap_or_else(|| panic!("none: {mails:#?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_who_is_asked_is_sent_a_mail_of_their_own() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, true);
    let more = format!(", title: true, user: {USER}, password_env: MAIL_PASSWORD");
    let server = mailed(&mailbox, &more).start().await;
    person(&server, "anna", json!({"name": "Anna Berg", "language": "de-DE", "time_zone": "Europe/Berlin"}))
        .await;
    person(&server, "ben", json!({})).await;
    person(&server, "cleo", json!({"groups": ["finance"]})).await;
    let title = "Pay\u{200b}\r\nBcc: all@example.com\r\n\r\n<b onclick=x>now</b> \"& =?utf-8?q?=E2=80=AE?=";
    let id = ask(&server, to_legal(&json!({"title": title, "expires_in_ms": 3_600_000}))).await;
    let mails = mailbox.wait_for(2).await;
    let (anna, ben) = (to(&mails, "anna@example.org"), to(&mails, "ben@example.org"));
    for mail in [anna, ben] {
        assert_eq!((&mail["secure"], &mail["user"]), (&json!(true), &json!(USER)));
        // Line breaks of the title are escaped, so the title cannot inject a header.
        assert!(mail["headers"].get("bcc").is_none(), "{mail:#}");
        let one_line = "Pay\\u{200b}\\u{d}\\nBcc: all@example.com\\u{d}\\n\\u{d}\\n<b onclick=x>now</b> \"&";
        assert!(text(mail, "/subject").starts_with(&format!("[Holdshort] {one_line}")), "{mail:#}");
        // Mail programs do not decode an encoded word that is part of the title.
        assert!(text(mail, "/subject").contains("= ?utf-8?q?=E2=80=AE?="), "{mail:#}");
        assert!(text(mail, "/text").contains(one_line), "{mail:#}");
        let html = text(mail, "/html");
        assert!(html.contains("&lt;b onclick=x&gt;now&lt;/b&gt; &quot;&amp;"), "{html}");
        for foreign in ["<b onclick", "<img", "<link", "<script", "src=", "url("] {
            assert!(!html.contains(foreign), "{foreign}: {html}");
        }
        assert_eq!(text(mail, "/headers/auto-submitted"), "auto-generated");
        assert_eq!(text(mail, "/headers/references"), format!("<{id}@example.org>"));
        // The mail contains nothing of the payload.
        assert!(!mail["raw"].as_str().unwrap().contains("DE02"), "{mail:#}");
    }
    assert!(text(anna, "/text").starts_with("Wartet auf eine Entscheidung: Prüfung in external"), "{anna:#}");
    assert!(text(anna, "/text").contains("Antwort auf diese Mail entscheidet nichts"), "{anna:#}");
    assert!(text(anna, "/text").contains(" CE"), "the time of Berlin: {anna:#}");
    assert!(
        text(anna, "/text").contains("\n„Pay\\u{200b}\\u{d}\\nBcc: ")
            && text(anna, "/html").contains("<b>„Pay\\u{200b}"),
        "{anna:#}"
    );
    assert_eq!((&anna["names"], text(anna, "/headers/content-language")), (&json!(["Anna Berg"]), "de"));
    assert!(text(ben, "/text").starts_with("Waiting for a decision: review in external"), "{ben:#}");
    assert!(text(ben, "/text").contains("Replies to this mail are not read"), "{ben:#}");
    assert!(text(ben, "/text").contains("\n“Pay\\u{200b}\\u{d}\\nBcc: "), "{ben:#}");
    assert!(text(ben, "/text").contains(" UTC\n"), "who has no time zone: {ben:#}");
    // The page of the link has the same time zone as the mail.
    for (mail, zone) in [(anna, " CE"), (ben, " UTC")] {
        let (status, shown) = page(&server, &link(&server, mail), None).await;
        assert!(status == 200 && shown.contains(zone), "{zone}: {shown}");
        assert_eq!(shown.contains(" UTC"), zone == " UTC", "{shown}");
    }
    let ids: Vec<String> = deliveries(&server, "").await.iter().map(|each| each["id"].to_string()).collect();
    let message_id = text(anna, "/headers/message-id");
    assert!(ids.iter().any(|id| message_id == format!("<{}@example.org>", id.trim_matches('"'))), "{ids:?}");

    resolve(&server, &id).await;
    let mails = mailbox.wait_for(4).await;
    let told = to(&mails[2..], "anna@example.org");
    assert!(text(told, "/subject").starts_with("Re: [Holdshort] Pay"), "{told:#}");
    assert!(text(told, "/text").starts_with("Freigegeben: Prüfung in external"), "{told:#}");
    assert!(text(told, "/text").contains("\nVon: operator\nAm: 20"), "{told:#}");
    assert_eq!(told["headers"]["references"], anna["headers"]["references"]);
    assert!(!text(told, "/text").contains("/d/"), "there is nothing to decide: {told:#}");
    // The receipt names the recipient of each mail.
    let receipt = server.get(&format!("/v1/receipts/{id}")).await.ok();
    let recorded = receipt["not_covered"]["deliveries"].as_array().unwrap();
    let whom = |event: &str| -> BTreeSet<&str> {
        let of_it = recorded.iter().filter(|each| each["event"] == event);
        of_it.filter_map(|each| each["to"].as_str()).collect()
    };
    let both = BTreeSet::from(["anna", "ben"]);
    assert_eq!((whom("opened"), whom("resolved")), (both.clone(), both), "{receipt:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_puts_off_is_tried_again_and_what_it_refuses_is_not() {
    let mut mailbox = Mailbox::start(SmtpSecurity::Tls, false);
    let addresses = ", to: [legal@example.org], security: tls, retry_delay: 50ms";
    let server = mailed(&mailbox, addresses).start().await;
    mailbox.refuse(&[451]);
    let first = ask(&server, json!({})).await;
    let mails = mailbox.wait_for(1).await;
    let [delivery] = &wait_state(&server, "delivered", 1).await[..] else { panic!("one") };
    assert_eq!((&delivery["attempts"], &mails[0]["secure"]), (&json!(2), &json!(true)));
    // An address that may belong to a mailing list receives no personal link.
    assert!(text(&mails[0], "/text").contains(&format!("{}/inbox/{first}", server.base())), "{mails:#?}");
    mailbox.refuse(&[550]);
    let second = ask(&server, json!({})).await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    assert_eq!((&failed["interrupt"], &failed["attempts"]), (&json!(second), &json!(1)));
    // The SMTP server's response contains names of people. The response is stored only with the delivery attempt, which
    // is deleted earlier.
    assert_eq!((&failed["status"], &failed["error"]), (&json!(550), &json!("answered 550")));
    let shown = server.get(&format!("/v1/deliveries/{}", failed["id"].as_str().unwrap())).await.ok();
    assert!(text(&shown, "/tried/0/answer").contains("refused by the test: legal@example.org"), "{shown:#}");
    assert_eq!(mailbox.mails().len(), 1);
}

/// Everyone who was asked is notified of the resolution. An approver who was asked first is also notified. If an admin
/// or operator reassigned the interrupt, all admins and operators are notified.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_was_asked_is_told_how_it_ended() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, false);
    let server = mailed(&mailbox, "").start().await;
    person(&server, "anna", json!({})).await;
    person(&server, "ben", json!({})).await;
    person(&server, "carol", json!({"roles": ["admin"]})).await;
    let told = async |after: usize, wanted: &[&str]| {
        let mails = mailbox.wait_for(after + wanted.len()).await;
        let mut told: Vec<&str> = mails[after..].iter().map(|mail| text(mail, "/to/0")).collect();
        told.sort_unstable();
        assert_eq!(told, wanted, "{mails:#?}");
        wait_state(&server, "delivered", mails.len()).await;
    };
    let (anna, ben, carol) = ("anna@example.org", "ben@example.org", "carol@example.org");
    let approvers = |who: &str| json!({"assignment": {"approvers": [who, "operator"]}});
    let id = ask(&server, approvers("anna")).await;
    told(0, &[anna]).await;
    server.post(&format!("/v1/interrupts/{id}/reassign"), &approvers("ben")).await.ok();
    told(1, &[ben]).await;
    resolve(&server, &id).await;
    told(2, &[anna, ben]).await;

    let id = ask(&server, json!({})).await;
    told(4, &[carol]).await;
    let handed = json!({"from": "carol", "to": "ben"});
    server.post(&format!("/v1/interrupts/{id}/delegate"), &handed).await.ok();
    told(5, &[ben]).await;
    resolve(&server, &id).await;
    told(6, &[ben, carol]).await;
}

/// If a mail is retried after its link has expired, the mail links to the inbox.
#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_is_tried_again_too_late_for_its_link_leads_to_the_inbox() {
    let mut mailbox = Mailbox::start(SmtpSecurity::Starttls, false);
    let mut server = mailed(&mailbox, ", attempts: 1").start().await;
    person(&server, "anna", json!({})).await;
    mailbox.refuse(&[550]);
    let id = ask(&server, to_legal(&json!({}))).await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    server.kill();
    let journal = rusqlite::Connection::open(server.data().join("holdshort.db")).unwrap();
    let week = 7 * 24 * 60 * 60 * 1_000;
    journal.execute("UPDATE deliveries SET created_at = created_at - ?1", [week]).unwrap();
    drop(journal);
    server.restart().await;
    let path = format!("/v1/deliveries/{}/retry", failed["id"].as_str().unwrap());
    server.post(&path, &json!({})).await.ok();
    let mails = mailbox.wait_for(1).await;
    let text = text(&mails[0], "/text");
    assert!(text.contains(&format!("{}/inbox/{id}", server.base())) && !text.contains("/d/"), "{text}");
}

/// Text that was injected before TLS is not accepted as a response of the TLS server. An endless response is cut off at
/// a limit.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_breaks_the_rules_is_believed_nothing() {
    let (injects, endless) = (Mailbox::hostile("injects"), Mailbox::hostile("endless"));
    let more = ", to: [legal@example.org], attempts: 1";
    let channels = format!("{}{}", channel(&injects, more), again("endless", &endless, more));
    let server = mailed(&injects, more).channels(&channels).start().await;
    ask(&server, json!({})).await;
    let failed = wait_state(&server, "failed", 2).await;
    let of = |channel: &str| failed.iter().find(|each| each["channel"] == channel).unwrap();
    assert!(!of("mail").to_string().contains("FORGED"), "{failed:#?}");
    assert!(text(of("endless"), "/error").contains("more than 262144 bytes"), "{failed:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_in_the_clear_unless_that_is_said() {
    let mailbox = Mailbox::start(SmtpSecurity::Clear, false);
    let more = ", to: [legal@example.org], attempts: 1";
    let mut server = mailed(&mailbox, more).start().await;
    ask(&server, json!({})).await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    assert!(failed["error"].as_str().unwrap().contains("STARTTLS"), "{failed}");
    assert_eq!(mailbox.mails().len(), 0);
    let clear = channel(&mailbox, &format!("{more}, security: none"));
    server.change(|setup| setup.channels(&clear));
    server.restart().await;
    ask(&server, json!({})).await;
    assert_eq!(mailbox.wait_for(1).await[0]["secure"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_no_address_is_told_nothing_and_that_is_to_be_seen() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, false);
    let server = mailed(&mailbox, "").start().await;
    person(&server, "anna", json!({"addresses": {}})).await;
    ask(&server, to_legal(&json!({}))).await;
    let [dropped] = &wait_state(&server, "dropped", 1).await[..] else { panic!("one") };
    assert_eq!(dropped["error"], "person `anna` has no address for `email`");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robot_that_follows_the_link_and_sends_its_form_decides_nothing() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, false);
    let mut server = mailed(&mailbox, "").start().await;
    person(&server, "anna", json!({})).await;
    let id = ask(&server, to_legal(&json!({}))).await;
    let path = link(&server, &mailbox.wait_for(1).await[0]);
    let (status, shown) = page(&server, &path, None).await;
    assert_eq!(status, 200, "{shown}");
    let number = number(&shown).to_owned();
    // A link scanner submits each button, with the form's fields unchanged or with different texts.
    for typed in ["", "yes", "approve"] {
        let (status, refused) =
            page(&server, &path, Some(&[("option", "approve"), ("text", typed), ("number", typed)])).await;
        assert!(status == 422 && refused.contains("Nothing was decided"), "{status} {refused}");
    }
    assert_eq!(server.interrupt(&id).await["status"], "open");
    server.restart().await;
    let (status, decided) = page(&server, &path, Some(&[("option", "approve"), ("number", &number)])).await;
    assert!(status == 200 && decided.contains("<strong>Approved</strong>"), "{status} {decided}");
    let interrupt = server.interrupt(&id).await;
    assert_eq!(interrupt["resolution"]["by"], json!(["anna"]));
    let events = server.get(&format!("/v1/runs/{}/events", interrupt["run"].as_str().unwrap())).await.ok();
    let made = events["items"].as_array().unwrap().iter().find(|event| event["type"] == "decision_made");
    assert_eq!(made.unwrap()["actor"], json!({"id": "anna", "role": "reviewer", "via": "email"}));
    let (status, late) = page(&server, &path, Some(&[("option", "reject"), ("number", &number)])).await;
    assert!(status == 409 && late.contains("Already decided"), "{status} {late}");
    mailbox.wait_for(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_counts_once_for_its_person_and_not_where_it_is_risky() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, false);
    let server = mailed(&mailbox, ", events: [opened]").start().await;
    for id in ["anna", "ben"] {
        person(&server, id, json!({})).await;
    }
    let two = json!({"assignment": {"groups": ["legal"], "quorum": {"required": 2}}});
    let id = ask(&server, two).await;
    let mails = mailbox.wait_for(2).await;
    let of = |who: &str| link(&server, to(&mails, who));
    let (anna, ben) = (of("anna@example.org"), of("ben@example.org"));
    assert_ne!(anna, ben);
    let numbers = [page(&server, &anna, None).await.1, page(&server, &ben, None).await.1];
    let approve = |number: &'static str| [("option", "approve"), ("number", number)];
    let [of_anna, of_ben] = numbers.map(|shown| &*Box::leak(number(&shown).to_owned().into_boxed_str()));
    let (status, shown) = page(&server, &anna, Some(&approve(of_anna))).await;
    assert!(status == 200 && !shown.contains("<form"), "{status} {shown}");
    // The vote is recorded, and the link is used up, so the link cannot withdraw the vote.
    let (status, spent) = page(&server, &anna, Some(&[("option", "reject"), ("number", of_anna)])).await;
    assert!(status == 410 && spent.contains("already used"), "{status} {spent}");
    assert_eq!(page(&server, &anna, None).await.0, 410);
    assert_eq!(server.interrupt(&id).await["status"], "open");
    let (status, _) = page(&server, &ben, Some(&approve(of_ben))).await;
    assert_eq!((status, &server.interrupt(&id).await["resolution"]["outcome"]), (200, &json!("approved")));

    // With high risk, access to a mail does not authenticate the mail's recipient.
    let risky = json!({"kind": "tool_approval", "title": "Remove the build", "assignment": {"groups": ["legal"]},
        "payload": {}, "call": {"tool": "shell", "arguments": {"command": "rm -rf build"}, "workspace": "/home/me/project"}});
    let id = ask(&server, risky).await;
    assert_eq!(server.interrupt(&id).await["risk"]["level"], "high");
    for mail in &mailbox.wait_for(4).await[2..] {
        let text = text(mail, "/text");
        assert!(text.contains(&format!("/inbox/{id}")) && !text.contains("/d/"), "{text}");
    }

    // The links of a removed person are revoked.
    let id = ask(&server, to_legal(&json!({}))).await;
    let mails = eventually("two more", async || {
        let mails: Vec<Value> =
            mailbox.mails().into_iter().filter(|mail| mail.to_string().contains(&id)).collect();
        (mails.len() == 2).then_some(mails)
    })
    .await;
    let [anna, ben] = ["anna", "ben"].map(|who| link(&server, to(&mails, &format!("{who}@example.org"))));
    // After the interrupt was reassigned, the previous approver's link shows nothing.
    assert_eq!(page(&server, &anna, None).await.0, 200);
    let to_ben = json!({"assignment": {"approvers": ["ben"]}});
    server.post(&format!("/v1/interrupts/{id}/reassign"), &to_ben).await.ok();
    let (status, shown) = page(&server, &anna, None).await;
    assert!(status == 410 && !shown.contains("Roe"), "{status} {shown}");
    assert_eq!(page(&server, &ben, None).await.0, 200);
    server.send(server.request(Method::DELETE, "/v1/people/ben")).await;
    assert_eq!(page(&server, &ben, None).await.0, 410);
}
