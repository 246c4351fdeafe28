"""Language-model pretraining: the reader predicts the next word of plain text."""
