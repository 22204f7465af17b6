"""The room of questions: bounded, planned, quoted, asked, and recalled from the ledger."""
