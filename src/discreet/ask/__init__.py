"""The room of questions: each is bounded, planned, quoted and asked, and its stored answer is found again."""
