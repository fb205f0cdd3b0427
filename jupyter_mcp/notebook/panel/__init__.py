"""What the page's panel asks of this kernel, and what it is told."""
