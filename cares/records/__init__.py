"""What the stages hand each other, one module a family; a stage reads records and writes records."""
