"""What the package does today, pinned: seeded releases, answers, reports and messages, each as one digest."""
