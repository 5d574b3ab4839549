//! What is read, travels or is stored.
