web:
  title: A page for everybody
  # Numbers as keys stay numbers all the way into the template.
  ports:
    80: plain
    443: tls
