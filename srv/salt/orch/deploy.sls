# A deployment with a load balancer: one server after the other is taken out, gets the release, is tested, and is put
# back. What fails is rolled back to `previous`, stays out, and stops the servers after it.
#
#   salt-run state.orchestrate orch.deploy pillar='{version: "2.0", previous: "1.0"}'
{% set version = pillar.get('version', '1.0') %}
{% set previous = pillar.get('previous', '1.0') %}
{% set servers = pillar.get('servers', ['web1', 'web2']) %}

{% macro backend(step, server, state) %}
{{ step }} {{ server }}:
  salt.state:
    - tgt: role:lb
    - tgt_type: grain
    - sls: lb.backend
    - pillar:
        backend: {{ server }}
        state: {{ state }}
{% endmacro %}

{% for server in servers %}
{{ backend('drain', server, 'drained') }}
{%- if not loop.first %}
    - require:
      - salt: enable {{ loop.previtem }}
{%- endif %}

deploy {{ server }}:
  salt.state:
    - tgt: {{ server }}
    - sls: app
    - pillar:
        version: "{{ version }}"
    - require:
      - salt: drain {{ server }}

test {{ server }}:
  salt.state:
    - tgt: {{ server }}
    - sls: app.smoke
    - require:
      - salt: deploy {{ server }}

{{ backend('enable', server, 'ready') }}
    - require:
      - salt: test {{ server }}

roll back {{ server }}:
  salt.state:
    - tgt: {{ server }}
    - sls: app
    - pillar:
        version: "{{ previous }}"
    - onfail:
      - salt: test {{ server }}
{% endfor %}

# The reactor of srv/master.d writes it into the log of releases.
announce:
  salt.runner:
    - name: event.send
    - tag: site/deployed
    - data:
        version: "{{ version }}"
        servers: {{ servers | json }}
    - require:
      - salt: enable {{ servers | last }}
