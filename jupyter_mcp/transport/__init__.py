"""What carries messages: stdio, memory (layer 1).

`base` holds the seam every transport has; nothing here knows what a message means.
"""
