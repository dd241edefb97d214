include:
  - common

{% set site = salt['grains.get']('site') %}

web pages:
  file.recurse:
    - name: {{ site }}/www
    - source: salt://web/pages
    - template: jinja
    - require:
      - file: motd

web configuration:
  file.managed:
    - name: {{ site }}/etc/web.conf
    - contents: |
        root {{ site }}/www
        {%- for port, name in pillar['web']['ports'].items() %}
        listen {{ port }} # {{ name }}
        {%- endfor %}

# Runs when a page or the configuration is new, and only then.
web reload:
  cmd.run:
    - name: date >> {{ site }}/reloads
    - onchanges:
      - file: web pages
      - file: web configuration
