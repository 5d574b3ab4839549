//! The commands of a Markdown file: those after `$ ` in its `console` blocks.

/// A command and the output that the guide shows.
#[derive(Debug, PartialEq)]
pub(crate) struct Step {
    /// The command's line in the file, from 1.
    pub(crate) line: usize,
    /// Without `$ `; continued lines are kept as the shell reads them.
    pub(crate) command: String,
    /// Lines up to the next command or the end of the block.
    pub(crate) output: Vec<String>,
}

/// The text with the output of every step replaced by what `run` returns. Steps are run in order.
pub(crate) fn replace_outputs(text: &str, mut run: impl FnMut(&Step) -> Vec<String>) -> String {
    let mut result: Vec<String> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    let mut in_console = false;
    while let Some((index, line)) = lines.next() {
        result.push(line.to_owned());
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let Some(first) = line.strip_prefix("$ ").filter(|_| in_console) else { continue };
        let mut command = first.to_owned();
        while command.ends_with('\\') {
            let (_, continued) = lines.next().expect("a continued command has another line");
            result.push(continued.to_owned());
            command = format!("{command}\n{continued}");
        }
        let mut output = Vec::new();
        while let Some((_, line)) =
            lines.next_if(|(_, line)| !line.starts_with("$ ") && !line.starts_with("```"))
        {
            output.push(line.to_owned());
        }
        result.extend(run(&Step { line: index + 1, command, output }));
    }
    result.join("\n") + "\n"
}

#[test]
fn finds_commands_with_their_outputs() {
    let text = "Text\n```console\n$ a \\\n  b\none\ntwo\n$ c\n```\n```sh\n$ not a step\n```\n";
    let mut steps = Vec::new();
    let updated = replace_outputs(text, |step| {
        steps.push((step.line, step.command.clone(), step.output.clone()));
        vec!["new".to_owned()]
    });
    let two = vec!["one".to_owned(), "two".to_owned()];
    assert_eq!(steps, [(3, "a \\\n  b".to_owned(), two), (7, "c".to_owned(), vec![])]);
    assert_eq!(
        updated,
        "Text\n```console\n$ a \\\n  b\nnew\n$ c\nnew\n```\n```sh\n$ not a step\n```\n"
    );
}
