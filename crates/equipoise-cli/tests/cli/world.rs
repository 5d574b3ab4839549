//! A temporary folder with the data of a small round, and the binary run inside it.

use std::path::PathBuf;

use equipoise_data::{Purpose, Schema, read_rows, write_proxy};
use serde_json::Value;
use tempfile::TempDir;

/// `score` is numeric, `work` 0 or 1, `region` categorical, `group` A or B; `id` is dropped.
pub(crate) const HEADER: &str = "id,score,work,region,group,passed";

pub(crate) const CLIENTS: [&str; 3] = ["east", "north", "south"];

/// A folder with `data.csv` (all clients), `east.csv`, `north.csv`, `south.csv`, `test.csv`, `roots/`,
/// an empty `proxies/` and `schema.toml`.
pub(crate) struct World {
    dir: TempDir,
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        let mut random = Random(7);
        let rows = random.rows(400, 1.0);
        world.write("data.csv", &table(&rows));
        for (client, part) in CLIENTS.iter().zip(rows.chunks(134)) {
            world.write(&format!("{client}.csv"), &table(part));
        }
        world.write("test.csv", &table(&random.rows(300, 1.0)));
        std::fs::create_dir(world.path("roots")).unwrap();
        std::fs::create_dir(world.path("proxies")).unwrap();
        for client in CLIENTS {
            world.write(&format!("roots/{client}.csv"), &table(&random.rows(20, 1.0)));
        }
        world
            .run("schema infer data.csv --label passed=1 --sensitive group=A --drop id -o schema.toml")
            .expect(0);
        world
    }

    /// A world with proxies: generated ones for two clients, biased raw rows for `south`.
    pub(crate) fn with_proxies() -> Self {
        let world = Self::new();
        for client in ["east", "north"] {
            world
                .run(&format!(
                    "proxy {client}.csv --schema schema.toml --fairness sp -o proxies/{client}.parquet"
                ))
                .expect(0);
        }
        world.write("biased.csv", &table(&Random(11).rows(130, 5.0)));
        world.write_encoded("biased.csv", "proxies/south.csv");
        world
    }

    /// Encodes a raw table and writes its rows as a proxy.
    pub(crate) fn write_encoded(&self, raw: &str, proxy: &str) {
        let schema = self.schema();
        let rows = read_rows(&self.path(raw), &schema, Purpose::Data).unwrap().rows;
        write_proxy(&self.path(proxy), &rows, &schema, true).unwrap();
    }

    pub(crate) fn schema(&self) -> Schema {
        Schema::read(&self.path("schema.toml")).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// All files in the folder, `proxies/` and `roots/`, to check that nothing was left over.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for folder in [".", "proxies", "roots"] {
            for entry in std::fs::read_dir(self.path(folder)).unwrap() {
                names.push(format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()));
            }
        }
        names.sort();
        names
    }

    /// Runs the binary inside the folder. Arguments are split at spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(arguments, &[])
    }

    /// Runs it with these environment variables, and no other proxy settings.
    pub(crate) fn run_with(&self, arguments: &str, variables: &[(&str, &str)]) -> Run {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_equipoise"));
        for proxy in ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"] {
            command.env_remove(proxy);
        }
        let output = command
            .args(arguments.split_whitespace())
            .envs(variables.iter().copied())
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        Run {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `defend` on the folder's round with further options.
    pub(crate) fn defend(&self, more: &str) -> Run {
        self.run(&format!("defend --proxies proxies --trusted roots --schema schema.toml {more}"))
    }
}

impl Run {
    /// Asserts the exit code, and that nothing panicked.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Asserts that stderr contains all of these.
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
        self
    }

    /// The one JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

pub(crate) fn table(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

/// A small seeded linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Approximately normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Rows whose labels favour group A by `bias`.
    pub(crate) fn rows(&mut self, n: usize, bias: f64) -> Vec<String> {
        (0..n)
            .map(|id| {
                let privileged = self.unit() < 0.5;
                let score = 50.0 + if privileged { 4.0 } else { 0.0 } + 10.0 * self.normal();
                let work = self.unit() < 0.5;
                let region = ["coast", "hills", "plain"][(self.unit() * 3.0) as usize];
                let favour = if privileged { 0.5 } else { -0.5 } * bias;
                let z = (score - 52.0) / 8.0 + favour + f64::from(work) - 0.5 + self.normal();
                let group = if privileged { "A" } else { "B" };
                let (work, passed) = (u8::from(work), u8::from(z > 0.0));
                format!("{id},{score:.3},{work},{region},{group},{passed}")
            })
            .collect()
    }
}
