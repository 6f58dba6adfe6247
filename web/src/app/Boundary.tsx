// An error boundary: a view that throws shows its error without affecting other views.

import { Component, type ReactNode } from "react";
import { Failure } from "../parts/states.tsx";

export class Boundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Failure error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
