//! Files and requests that a client of the round signs, but that must not be accepted.

use std::sync::OnceLock;

use equipoise_data::TableKind;
use equipoise_server::protocol::{Digest, Manifest};
use flate2::Compression;

use crate::files::{File, Validity, encode, gzip, header, rows};
use crate::many_rows::many_rows;
use crate::mutant::mutant;
use crate::plan::Hostile;
use crate::random::Random;
use crate::requests::put_head;
use crate::round::Round;
use crate::site::Site;
use crate::uploads::Upload;
use crate::wire::Reply;

pub(crate) fn send(
    site: &Site<'_>,
    round: &Round,
    client: usize,
    hostile: Hostile,
    random: &mut Random,
) -> String {
    let upload = Upload::of(site, round, client, file(site, hostile, random));
    let mut manifest = upload.manifest.clone();
    let reply = match hostile {
        Hostile::WrongSchema => {
            manifest.schema_sha256 = Digest::of(&random.next().to_le_bytes());
            request(site, client, &manifest, "", &upload.file.bytes)
        }
        Hostile::WrongLength => {
            manifest.length = random.below(2 * upload.file.len());
            manifest.length += u64::from(manifest.length == upload.file.len());
            let head = site.put_head(client, &manifest, 0);
            let head = head.replace(
                &format!("content-length: {}", manifest.length),
                &format!("content-length: {}", upload.file.len()),
            );
            site.wire.send(&[head.as_bytes(), &upload.file.bytes])
        }
        Hostile::WrongMediaType => {
            let head = site.put_head(client, &manifest, 0);
            let head = head.replace("content-type: ", "content-type: x-");
            site.wire.send(&[head.as_bytes(), &upload.file.bytes])
        }
        Hostile::ContentEncoding => {
            request(site, client, &manifest, "content-encoding: gzip\r\n", &upload.file.bytes)
        }
        Hostile::Chunked => {
            let head = site.put_head(client, &manifest, 0);
            let at = head.find("content-length").unwrap();
            let head = format!("{}transfer-encoding: chunked\r\n\r\n", &head[..at]);
            let size = format!("{:x}\r\n", upload.file.len());
            site.wire.send(&[
                head.as_bytes(),
                size.as_bytes(),
                &upload.file.bytes,
                b"\r\n0\r\n\r\n",
            ])
        }
        Hostile::LargeHeader => {
            let large = format!("x-large: {}\r\n", "x".repeat(20 << 10));
            request(site, client, &manifest, &large, &upload.file.bytes)
        }
        _ => return upload.put_from(0).outcome(),
    };
    let check = round.check_reply(site, client, &manifest, &reply);
    // hyper itself answers a large header, and without a code.
    if hostile != Hostile::LargeHeader {
        site.report.require(check);
    }
    if reply.is_receipt() {
        site.report.violation(format!("{hostile:?} was accepted"));
    }
    reply.outcome()
}

fn request(site: &Site<'_>, client: usize, manifest: &Manifest, more: &str, body: &[u8]) -> Reply {
    let head = put_head(manifest, &site.keys[client], 0, more);
    site.wire.send(&[head.as_bytes(), body])
}

fn file(site: &Site<'_>, hostile: Hostile, random: &mut Random) -> File {
    let schema = &site.schema;
    let text = header(schema) + &rows(schema, random.range(500, 20_000) as usize, random);
    let csv = |text: String| File::new(TableKind::Csv, text.into_bytes(), Validity::Invalid);
    // A value of the second row.
    let with_value = |text: &str, column_from_end: usize, value: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut cells: Vec<&str> = lines[2].split(',').collect();
        let at = cells.len() - column_from_end;
        cells[at] = value;
        lines[2] = cells.join(",");
        lines.join("\n") + "\n"
    };
    match hostile {
        Hostile::Mutant(kind) => {
            let bytes = mutant(&encode(&text, kind, schema), random.next());
            File::new(kind, bytes, Validity::Unknown)
        }
        Hostile::Noise(kind) => {
            let bytes = (0..random.range(1, 4000)).map(|_| random.next() as u8).collect();
            File::new(kind, bytes, Validity::Invalid)
        }
        Hostile::NotFinite => {
            let value = random.pick(&["nan", "NaN", "inf", "-inf", "1e400", "1e13", ""]);
            csv(with_value(&text, random.range(3, 8) as usize, value))
        }
        Hostile::OutOfDomain => match random.chance(50) {
            true => csv(with_value(&text, 2, "2")),
            false => csv(with_value(&text, 1, "0.5")),
        },
        Hostile::MissingColumn => csv(text.replacen("x0,", "y0,", 1)),
        Hostile::Ragged => csv(text + "1,2,3\n"),
        Hostile::Empty => File::new(random.pick(&TableKind::ALL), Vec::new(), Validity::Invalid),
        Hostile::GzipBomb => {
            static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
            let bomb = BOMB.get_or_init(|| {
                let row = rows(schema, 1, random);
                let text = header(schema) + &row.repeat((150 << 20) / row.len());
                gzip(text.as_bytes(), Compression::best())
            });
            File::new(TableKind::CsvGz, bomb.clone(), Validity::Invalid)
        }
        Hostile::CutGzip => {
            let mut bytes = gzip(text.as_bytes(), Compression::fast());
            bytes.truncate(bytes.len() / 2);
            File::new(TableKind::CsvGz, bytes, Validity::Invalid)
        }
        Hostile::ManyRows => {
            let columns: Vec<String> =
                header(schema).trim_end().split(',').map(str::to_owned).collect();
            File::new(TableKind::Parquet, many_rows(&columns, 209_715_200), Validity::Invalid)
        }
        Hostile::WrongDigest => {
            let mut file = csv(text);
            file.digest = Digest::of(&random.next().to_le_bytes());
            file
        }
        // The content is fine, but nothing else of the request.
        Hostile::WrongSchema
        | Hostile::WrongLength
        | Hostile::WrongMediaType
        | Hostile::ContentEncoding
        | Hostile::Chunked
        | Hostile::LargeHeader => csv(text),
    }
}
