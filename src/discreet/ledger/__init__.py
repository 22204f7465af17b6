"""What has been spent: accounts, filters, and a book that survives crashes."""
