"""What is connected, offered, allowed and asked (layer 3)."""
