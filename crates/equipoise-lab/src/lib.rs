//! Scenarios: populations, the split into clients, reliable and unreliable ones, the round they make.
