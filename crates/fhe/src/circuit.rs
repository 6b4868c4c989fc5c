//! Circuits of gates, and their evaluation by a scheme.
