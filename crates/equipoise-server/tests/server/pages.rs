//! The pages of a round: content and access.

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;

use crate::world::{Server, World, name, proxy};

struct Page {
    status: u16,
    headers: axum::http::HeaderMap,
    html: String,
}

impl Page {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The text of a page, without its tags.
fn text(html: &str) -> String {
    let texts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.collect()
}

async fn fetch(server: &Server, request: Request<Body>) -> Page {
    let response = server.stream(request).await;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    Page { status, headers, html: String::from_utf8(bytes.to_vec()).unwrap() }
}

async fn get(server: &Server, path: &str, cookie: &str) -> Page {
    fetch(server, Request::get(path).header("cookie", cookie).body(Body::empty()).unwrap()).await
}

async fn post(server: &Server, path: &str, cookie: &str, form: String) -> Page {
    let request = Request::post(path)
        .header("cookie", cookie)
        .header("content-type", "application/x-www-form-urlencoded");
    fetch(server, request.body(Body::from(form)).unwrap()).await
}

const COORDINATOR: &str = "/rounds/spring/coordinator";

/// Logs in and returns the cookie.
async fn log_in(server: &Server, token: &str) -> String {
    let seen = post(server, &format!("{COORDINATOR}/login"), "", format!("token={token}")).await;
    assert_eq!((seen.status, seen.header("location")), (303, COORDINATOR));
    seen.header("set-cookie").split(';').next().unwrap().to_owned()
}

/// The CSRF token in a form.
fn csrf(html: &str) -> &str {
    let (_, rest) = html.split_once("name=\"csrf\" value=\"").unwrap();
    rest.split('"').next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn public_pages_show_the_state_but_no_names() {
    let world = World::with(|new| {
        new.deadline = Some("2100-01-01T00:00:00Z".parse().unwrap());
        new.settings.requirements = "gap=0.125,accuracy=0.6".parse().unwrap();
    });
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    assert_eq!(server.submit("south", "score,group,passed\nnan,1,1\n").await.status, 422);
    let index = get(&server, "/", "").await;
    assert!(
        index.status == 200 && index.html.contains("href=\"/rounds/spring\""),
        "{}",
        index.html
    );
    let page = get(&server, "/rounds/spring", "").await;
    assert_eq!(page.status, 200);
    for part in [
        "1 of 3",
        "2100-01-01 00:00 UTC",
        "Statistical parity",
        "value_rejected",
        "<span class=\"option\">--server-key</span> server.pub",
        // What clients agree to.
        "Statistical parity: equal selection rates in all groups",
        "largest gap between groups at most 12.5\u{202f}pp; correct decisions at least 60\u{202f}%",
        "tilt: ",
        "at least 2 of 3 clients, otherwise there is no model",
        "sees the group of a person",
        "aria-current=\"step\"><span>open",
        "<noscript>",
    ] {
        assert!(page.html.contains(part), "no {part} in {}", page.html);
    }
    let command = "equipoise submit PROXY.parquet --key CLIENT.key --server-key server.pub \\\n  \
                   --server https://round.example.org --round spring";
    assert!(text(&page.html).contains(command), "{}", text(&page.html));
    // The third client, `east`, is a substring of "at least".
    for client in ["north", "south"] {
        assert!(!page.html.contains(client), "{client} is named: {}", page.html);
    }
    for (name, value) in [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer")]
    {
        assert_eq!(page.header(name), value);
    }
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(!page.html.contains("style=") && !page.html.contains("<style"), "{}", page.html);
    for (path, media_type) in [("page.css", "text/css"), ("round.js", "text/javascript")] {
        let asset = get(&server, &format!("/assets/{path}"), "").await;
        assert!(asset.status == 200 && asset.header("content-type").starts_with(media_type));
    }
    for path in ["/rounds/none", "/rounds/%3Cscript%3E", "/rounds/none/coordinator"] {
        let none = get(&server, path, "").await;
        assert_eq!(none.status, 404, "{path}");
        assert!(none.html.starts_with("<!DOCTYPE html>") && !none.html.contains("<script>"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_escaped() {
    let world = World::new();
    let server = world.start();
    let reason = "\"><script>alert(1)</script>'";
    server.store.abort_round(&name("spring"), reason).unwrap();
    let page = get(&server, "/rounds/spring", "").await;
    assert!(!page.html.contains("<script>") && page.html.contains("&lt;script&gt;"));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_require_the_token_and_failures_are_counted() {
    let world = World::new();
    let server = world.start();
    server.submit("north", proxy(1)).await;
    server.submit("south", proxy(1)).await;
    server.submit("south", proxy(2)).await;
    let stranger = get(&server, COORDINATOR, "equipoise_coordinator=0").await;
    assert!(stranger.status == 200 && !stranger.html.contains("north"), "{}", stranger.html);
    assert_eq!(stranger.header("cache-control"), "no-store");

    let login = format!("{COORDINATOR}/login");
    let right = post(&server, &login, "", format!("token={}", world.token)).await;
    let cookie = right.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/rounds/spring"] {
        assert!(cookie.contains(part), "no {part} in {cookie}");
    }
    let cookie = log_in(&server, &world.token).await;
    let page = get(&server, COORDINATOR, &cookie).await;
    assert_eq!(page.header("cache-control"), "no-store");
    for part in [
        "north",
        "east",
        "not yet",
        "same rows as north",
        "already_submitted",
        "valid · <a",
        "Revoke…",
    ] {
        assert!(page.html.contains(part), "no {part} in {}", page.html);
    }
    for _ in 0..20 {
        assert_eq!(post(&server, &login, "", "token=wrong".into()).await.status, 401);
    }
    let late = post(&server, &login, "", "token=wrong".into()).await;
    assert!(late.status == 429 && late.header("retry-after") == "60");
    let long = post(&server, &login, "", format!("token={}", "x".repeat(10_000))).await;
    assert_eq!(long.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_limited_to_one_round() {
    let world = World::new();
    world.add_round("autumn", |new| new.audience = "http://127.0.0.1:1".into());
    let server = world.start();
    let cookie = log_in(&server, &world.token).await;
    let other = get(&server, "/rounds/autumn/coordinator", &cookie).await;
    assert!(!other.html.contains("north"), "{}", other.html);
    let wrong = format!("token={}", world.token);
    assert_eq!(post(&server, "/rounds/autumn/coordinator/login", "", wrong).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_require_a_session_a_csrf_token_and_a_confirmation() {
    let world = World::new();
    let server = world.start();
    let cookie = log_in(&server, &world.token).await;
    let close = format!("{COORDINATOR}/close");
    let revoke = format!("{COORDINATOR}/clients/east/revoke");
    // Without a session, without a CSRF token, and with the token of another session.
    let others = log_in(&server, &world.token).await;
    let asked = get(&server, &close, &others).await;
    let foreign = csrf(&asked.html).to_owned();
    for path in [&close, &revoke, &format!("{COORDINATOR}/abort"), &format!("{COORDINATOR}/logout")]
    {
        for (cookie, form) in [
            ("", String::new()),
            ("", format!("csrf={foreign}")),
            (cookie.as_str(), String::new()),
            (cookie.as_str(), format!("csrf={foreign}")),
        ] {
            assert_eq!(post(&server, path, cookie, form).await.status, 401, "{path}");
        }
    }
    assert_eq!(get(&server, &close, "").await.status, 303);
    assert_eq!(server.state().name(), "open");

    let asked = get(&server, &revoke, &cookie).await;
    assert!(asked.status == 200 && asked.html.contains("Revoke the key of east?"));
    let form = || format!("csrf={}", csrf(&asked.html));
    // A form from another site, as browsers report it.
    let elsewhere = Request::post(&revoke)
        .header("cookie", &cookie)
        .header("sec-fetch-site", "cross-site")
        .body(Body::from(form()))
        .unwrap();
    assert_eq!(fetch(&server, elsewhere).await.status, 401);
    assert_eq!(post(&server, &revoke, &cookie, form()).await.status, 303);
    assert!(server.store.client_key(&name("spring"), &name("east")).unwrap().unwrap().1.is_some());
    // Too few submissions to close, answered as a page.
    let refused = post(&server, &close, &cookie, form()).await;
    assert!(refused.status == 409 && refused.html.contains("too_few_submissions"));
    server.submit("north", proxy(1)).await;
    server.submit("south", proxy(2)).await;
    assert_eq!(server.wait().name(), "published");

    let logout = post(&server, &format!("{COORDINATOR}/logout"), &cookie, form()).await;
    assert!(logout.status == 303 && logout.header("set-cookie").contains("Max-Age=0"));
    assert!(!get(&server, COORDINATOR, &cookie).await.html.contains("north"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_published_round_shows_figures_files_digests_and_verification() {
    let world = World::new();
    let server = world.start();
    for (i, client) in crate::world::CLIENTS.into_iter().enumerate() {
        server.submit(client, proxy(i as u64)).await;
    }
    assert_eq!(server.wait().name(), "published");
    let page = get(&server, "/rounds/spring", "").await;
    let files = server.get("/v1/rounds/spring").await.json["files"].clone();
    for file in files.as_array().unwrap() {
        let file = file.as_str().unwrap();
        let address = format!("/v1/rounds/spring/files/{file}");
        let content = server.get(&address).await.bytes;
        let digest = equipoise_server::protocol::Digest::of(&content).to_string();
        assert!(page.html.contains(&address) && page.html.contains(&digest), "{file}");
    }
    for part in [
        "No requirements were set.",
        "Largest gap between groups",
        "Correct decisions",
        // Figures have intervals, and the two digests of the schema are explained.
        "<span class=\"interval\"> (",
        "SHA-256 of the file <code>",
        "It is therefore not the SHA-256 of the file <code>schema.toml</code>.",
        "data-over=\"yes\"",
    ] {
        assert!(page.html.contains(part), "no {part} in {}", page.html);
    }
    assert!(text(&page.html).contains("equipoise verify spring --server-key server.pub"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_is_over_is_described_in_the_past() {
    let world = World::new();
    let server = world.start();
    server.submit("north", proxy(1)).await;
    server.submit("south", proxy(2)).await;
    let cookie = log_in(&server, &world.token).await;
    let asked = get(&server, &format!("{COORDINATOR}/close"), &cookie).await;
    let form = format!("csrf={}", csrf(&asked.html));
    assert_eq!(post(&server, &format!("{COORDINATOR}/close"), &cookie, form).await.status, 303);
    assert_eq!(server.wait().name(), "published");
    let page = get(&server, "/rounds/spring", "").await;
    let shown = text(&page.html);
    for part in [
        "absent: east",
        "UTC, by the coordinator",
        "Published",
        "May we use it?",
        "of the 2 that submitted",
        "Warning Client east is on the roster but did not submit",
    ] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    for part in ["closes when every client", "Deadline", "Computed directly", "at least 2 required"]
    {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
    let gap = page.html.split("Largest gap between groups</dt>").nth(1).unwrap();
    let gap = gap.split("</div>").next().unwrap();
    assert!(gap.contains("pp)") && gap.contains("selection rate"), "{gap}");
}

/// The steps shown, each with its class.
fn steps(html: &str) -> Vec<(String, String)> {
    let list = html.split("<ol class=\"steps\"").nth(1).unwrap().split("</ol>").next().unwrap();
    let items = list.split("<li class=\"").skip(1).map(|item| {
        let (class, rest) = item.split_once('"').unwrap();
        let name = rest.split("<span>").nth(1).unwrap().split('<').next().unwrap();
        (name.to_owned(), class.to_owned())
    });
    items.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_round_shows_what_it_went_through_and_why_it_ended() {
    let world = World::new();
    world.add_draft("autumn", |_| {});
    world.add_draft("winter", |_| {});
    let server = world.start();
    let cookie = log_in(&server, &world.token).await;
    let abort = format!("{COORDINATOR}/abort");
    let asked = get(&server, &abort, &cookie).await;
    assert!(asked.html.contains("name=\"reason\""), "{}", asked.html);
    let form = format!("csrf={}&reason=+The+schema+was+wrong+", csrf(&asked.html));
    assert_eq!(post(&server, &abort, &cookie, form).await.status, 303);
    let page = get(&server, "/rounds/spring", "").await;
    let pair = |name: &str, class: &str| (name.to_owned(), class.to_owned());
    let expected = [pair("created", "done"), pair("opened", "done"), pair("aborted", "now ended")];
    assert_eq!(steps(&page.html), expected);
    assert!(text(&page.html).contains("Reason: The schema was wrong"), "{}", text(&page.html));
    assert!(!text(&page.html).contains("required"), "{}", text(&page.html));

    let draft = get(&server, "/rounds/winter", "").await;
    assert_eq!(steps(&draft.html)[0], pair("draft", "now"));
    server.store.abort_round(&name("autumn"), "not needed").unwrap();
    let page = get(&server, "/rounds/autumn", "").await;
    assert_eq!(steps(&page.html), [pair("created", "done"), pair("aborted", "now ended")]);
    assert!(text(&page.html).contains("Reason: not needed"), "{}", text(&page.html));

    let world = World::new();
    let server = world.start();
    assert_eq!(server.post("abort", &world.token).await.status, 200);
    let shown = text(&get(&server, "/rounds/spring", "").await.html);
    assert!(shown.contains("The coordinator gave no reason.") && !shown.contains("Reason:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn breadcrumbs_end_with_a_page() {
    let world = World::new();
    let server = world.start();
    let page = get(&server, COORDINATOR, "").await;
    let crumbs = page.html.split("class=\"breadcrumbs\">").nth(1).unwrap();
    let crumbs = text(crumbs.split("</p>").next().unwrap());
    assert_eq!(crumbs, "Rounds / spring");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_is_a_page_for_browsers_and_json_for_programs() {
    let world = World::new();
    let server = world.start();
    let ask = async |path: &str, accept: &str| {
        let request = Request::get(path).header("accept", accept).body(Body::empty()).unwrap();
        fetch(&server, request).await
    };
    let browser = "text/html,application/xhtml+xml";
    let page = ask("/nowhere", browser).await;
    assert!(page.status == 404 && page.html.contains("No such page."), "{}", page.html);
    for (path, accept) in [("/nowhere", "*/*"), ("/v1/nowhere", browser)] {
        let reply = ask(path, accept).await;
        assert!(reply.status == 404 && reply.html.starts_with("{\"code\":\"not_found\""), "{path}");
    }
}
