//! `defend --allow-missing`: clients that did not submit, as in a network round.

use crate::server::{Server, at, set_up, set_up_with, submit, wait_published};
use crate::world::World;

#[test]
fn absent_clients_are_named_and_the_model_is_that_of_the_server() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    submit(&world, "north", port).expect(0);
    submit(&world, "south", port).expect(0);
    world.run(&format!("close {} --token-file spring.token", at(port))).expect(0);
    assert_eq!(wait_published(&world, port)["state"], "published");
    let fetched = "--server-key data/server.pub -o fetched";
    world.run(&format!("model {} {fetched}", at(port))).expect(0);
    drop(server);

    std::fs::remove_file(world.path("proxies/east.parquet")).unwrap();
    let before = world.names();
    world
        .defend("--fairness sp -o own")
        .expect(2)
        .says(&["without a proxy: `east`", "--allow-missing"]);
    assert_eq!(world.names(), before);

    let run = world.defend("--fairness sp --allow-missing -o own --json").expect(0);
    assert_eq!(world.read("own/model.json"), world.read("fetched/model.json"));
    let warning = |document: &serde_json::Value| {
        let warnings = document["warnings"].as_array().unwrap();
        warnings.iter().find(|warning| warning["code"] == "no-submission").unwrap().clone()
    };
    let expected = warning(&world.json("fetched/outcome.json"));
    assert_eq!(expected["client"], "east");
    assert_eq!(warning(&world.json("own/outcome.json")), expected);
    assert_eq!(warning(&run.json()), expected);
    let message = expected["message"].as_str().unwrap();
    assert!(run.stderr.contains("did not submit"), "{}", run.stderr);
    let shown = message.split('`').next_back().unwrap();
    for report in ["own/report.html", "fetched/report.html"] {
        let page = world.read(report);
        assert!(page.contains("east") && page.contains(shown.trim()), "{report}: {message}");
    }
}

#[test]
fn nobody_missing_changes_nothing_and_clients_need_no_trusted_rows() {
    let world = World::with_proxies();
    world.defend("--fairness sp -o plain").expect(0);
    world.defend("--fairness sp --allow-missing -o allowed").expect(0);
    assert_eq!(world.read("plain/model.json"), world.read("allowed/model.json"));
    std::fs::remove_file(world.path("roots/north.csv")).unwrap();
    world.defend("--fairness sp -o fewer").expect(0);
    let outcome = world.json("fewer/outcome.json");
    assert_eq!(
        (&outcome["clients"][1]["id"], &outcome["clients"][1]["root_rows"]),
        (&"north".into(), &0.into())
    );
}

#[test]
fn a_table_of_trusted_rows_gives_the_model_of_a_folder() {
    let world = World::with_proxies();
    world.defend("--fairness sp -o folder").expect(0);
    let mut table = String::new();
    for client in ["east", "north", "south"] {
        let rows = world.read(&format!("roots/{client}.csv"));
        let (header, rows) = rows.split_once('\n').unwrap();
        if table.is_empty() {
            table = format!("{header},client\n");
        }
        rows.lines().for_each(|row| table += &format!("{row},{client}\n"));
    }
    world.write("trusted.csv", &table);
    let defend =
        "defend --proxies proxies --trusted trusted.csv --schema schema.toml --fairness sp";
    world.run(&format!("{defend} -o table")).expect(0);
    assert_eq!(world.read("folder/model.json"), world.read("table/model.json"));
    assert_eq!(world.read("folder/outcome.json"), world.read("table/outcome.json"));

    // Nobody's rows are trusted rows, too.
    world.write("trusted.csv", &table.replace(",north\n", ",\n"));
    world.run(&format!("{defend} -o nobody")).expect(0);
    let outcome = world.json("nobody/outcome.json");
    assert_eq!(outcome["root_metrics"]["rows"], 60);
    assert_eq!(outcome["clients"][1]["root_rows"], 0);
}

#[test]
fn commands_say_if_a_published_model_misses_a_requirement() {
    let world = World::with_proxies();
    let port = set_up_with(&world, "--minimum 2 --require accuracy=0.99");
    let _server = Server::start(&world, port, "");
    submit(&world, "east", port).expect(0);
    submit(&world, "north", port).expect(0);
    let close = format!("close {} --token-file spring.token --wait", at(port));
    let run = world.run(&close).expect(1);
    assert!(run.stdout.contains("fail: The model misses a requirement"), "{}", run.stdout);
    let status = world.run(&format!("status {} --json", at(port))).expect(0).json();
    assert_eq!((&status["state"], &status["verdict"]), (&"published".into(), &"fail".into()));
    let model = format!("model {} --server-key data/server.pub -o fetched", at(port));
    world.run(&model).expect(0).says(&["the verdict on the model: ", "required: at least 0.99"]);
}

#[test]
fn a_round_that_needs_all_clients_says_so() {
    let world = World::with_proxies();
    let port = set_up_with(&world, "");
    let _server = Server::start(&world, port, "");
    submit(&world, "east", port).expect(0);
    let close = format!("close {} --token-file spring.token", at(port));
    world.run(&close).expect(2).says(&["at least 3 submissions", "close --abort", "--minimum"]);
}
