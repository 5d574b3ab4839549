//! An ONNX graph under construction. Field numbers are those of `onnx.proto`.

use super::protobuf::Message;
use crate::error::Error;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    Integer,
}

impl Kind {
    /// Its number in `TensorProto.DataType`.
    fn code(self) -> u64 {
        match self {
            Self::Number => 11,
            Self::Text => 8,
            Self::Integer => 7,
        }
    }
}

/// The name of a tensor.
pub(super) type Name = String;

#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<(Name, Kind)>,
    outputs: Vec<Message>,
    n_names: usize,
}

impl Graph {
    /// An input of shape `[rows, 1]`.
    pub(super) fn input(&mut self, column: &str, kind: Kind) -> Result<Name, Error> {
        match self.inputs.iter().find(|(name, _)| name == column) {
            Some((_, found)) if *found != kind => Err(Error::Invalid(format!(
                "column `{column}` is used both as numbers and as text, which ONNX cannot express."
            ))),
            Some(_) => Ok(column.to_owned()),
            None => {
                self.inputs.push((column.to_owned(), kind));
                Ok(column.to_owned())
            }
        }
    }

    /// An output of shape `[rows, 1]`, with an underscore after its name if an input has it. All inputs come first.
    pub(super) fn output(&mut self, name: &str, kind: Kind) -> Name {
        let mut name = name.to_owned();
        while self.inputs.iter().any(|(input, _)| *input == name) {
            name.push('_');
        }
        self.outputs.push(column_info(&name, kind));
        name
    }

    /// Constant numbers.
    pub(super) fn numbers(&mut self, values: &[f64], shape: &[u64]) -> Name {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = Message::default().number(2, Kind::Number.code()).bytes(9, bytes);
        self.constant(tensor, shape)
    }

    /// Constant texts.
    pub(super) fn texts(&mut self, values: &[&str], shape: &[u64]) -> Name {
        let tensor = Message::default().number(2, Kind::Text.code());
        let tensor = values.iter().fold(tensor, |tensor, value| tensor.bytes(6, value));
        self.constant(tensor, shape)
    }

    fn constant(&mut self, tensor: Message, shape: &[u64]) -> Name {
        let name = self.new_name();
        let tensor = shape.iter().fold(tensor, |tensor, size| tensor.number(1, *size));
        self.constants.push(tensor.bytes(8, &name));
        name
    }

    /// Adds an operation with integer attributes and returns the name of its result.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[Name],
        attributes: &[(&str, u64)],
    ) -> Name {
        let output = self.new_name();
        self.add(operator, inputs, attributes, &output);
        output
    }

    /// Converts the elements of a tensor.
    pub(super) fn cast(&mut self, input: &Name, kind: Kind) -> Name {
        let output = self.new_name();
        self.add_cast(input, kind, &output);
        output
    }

    pub(super) fn add_cast(&mut self, input: &Name, kind: Kind, output: &str) {
        self.add("Cast", std::slice::from_ref(input), &[("to", kind.code())], output);
    }

    /// Adds an operation whose result has a name already.
    pub(super) fn add(
        &mut self,
        operator: &str,
        inputs: &[Name],
        attributes: &[(&str, u64)],
        output: &str,
    ) {
        /// `AttributeProto.INT`.
        const INT: u64 = 2;
        let node = inputs.iter().fold(Message::default(), |node, input| node.bytes(1, input));
        let node = node.bytes(2, output).bytes(3, format!("make {output}")).bytes(4, operator);
        let node = attributes.iter().fold(node, |node, (name, value)| {
            let attribute = Message::default().bytes(1, name).number(3, *value).number(20, INT);
            node.message(5, &attribute)
        });
        self.nodes.push(node);
    }

    /// A name that no column can have: the schema's columns are trimmed.
    fn new_name(&mut self) -> Name {
        self.n_names += 1;
        format!(" t{}", self.n_names)
    }

    /// The bytes of the model file.
    pub(super) fn into_model(
        self,
        ir_version: u64,
        operator_set: u64,
        metadata: &[(String, String)],
    ) -> Vec<u8> {
        let mut graph = Message::default();
        for node in &self.nodes {
            graph = graph.message(1, node);
        }
        graph = graph.bytes(2, "equipoise");
        for constant in &self.constants {
            graph = graph.message(5, constant);
        }
        for (name, kind) in &self.inputs {
            graph = graph.message(11, &column_info(name, *kind));
        }
        for output in &self.outputs {
            graph = graph.message(12, output);
        }
        let mut model = Message::default()
            .number(1, ir_version)
            .bytes(2, "equipoise")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &Message::default().number(2, operator_set));
        for (key, value) in metadata {
            model = model.message(14, &Message::default().bytes(1, key).bytes(2, value));
        }
        model.into_bytes()
    }
}

/// `ValueInfoProto` of a tensor of shape `[rows, 1]`.
fn column_info(name: &str, kind: Kind) -> Message {
    let rows = Message::default().bytes(2, "rows");
    let one = Message::default().number(1, 1);
    let shape = Message::default().message(1, &rows).message(1, &one);
    let tensor = Message::default().number(1, kind.code()).message(2, &shape);
    Message::default().bytes(1, name).message(2, &Message::default().message(1, &tensor))
}
