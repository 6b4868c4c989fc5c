//! The leveled scheme from learning with errors.
